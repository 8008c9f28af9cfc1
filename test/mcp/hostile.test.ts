import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Stage } from './stage.ts'

/** A few in every build; FUZZ=5000 before a release. */
const RUNS = Number(process.env.FUZZ ?? 150)
const OWN = { clues: { environment: { CLAUDE_CODE_SESSION_ID: 'p-1' } } }
const NAMES = ['get_context_remaining', 'handoff', 'read_handoff', 'search_history', 'lineage', 'look_back'] as const
const LARGE = 'x'.repeat(1024 * 1024)

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('\u0000', '\ud800', "' or 1=1 --", '</document>', '\u001b[2J', '\u{e0041}', '../../etc', LARGE),
  fc.uuid(),
  fc.jsonValue({ maxDepth: 3 }),
)
const FIELDS = [
  'id',
  'from',
  'limit',
  'session',
  'words',
  'cursor',
  'call',
  'turn',
  'window',
  'file',
  'document',
  'reason',
]
const input = fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS, 'target_agent'), fc.string({ maxLength: 10 })), hostile)

/** Everything that may not travel raw: a client in another language may refuse the whole message. */
const isRaw = (text: string): boolean => /[\p{Cs}\p{Cc}\u{e0000}-\u{e007f}]/u.test(text.replaceAll(/[\n\t]/g, ''))

describe('hostile arguments', () => {
  it('get an answer or a refusal, and the server lives', async () => {
    const stage = await Stage.open(OWN)
    const working = await stage.session('p-1')
    await stage.handedOff(working, `A\u0000B \ud800 \u001b[31m \u{e0041} ${'words '.repeat(5_000)}`, 'p-1')
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...NAMES), input, async (name, given) => {
        const { text, facts } = await stage.call(name, given)
        expect(text.length).toBeGreaterThan(0)
        expect(text.length).toBeLessThan(51_000)
        expect(isRaw(`${text}${Object.values(facts ?? {}).join('')}`)).toBe(false)
        expect(text).not.toMatch(/ {4}at |node_modules|\.ts:\d/)
      }),
      { numRuns: RUNS },
    )
    expect((await stage.call('lineage')).isError).toBe(false)
  })

  it('of a wrong shape are refused by name', async () => {
    const stage = await Stage.open(OWN)
    expect((await stage.call('handoff', { document: `${LARGE}!` })).text).toContain('document')
    expect((await stage.call('look_back', {})).text).toMatch(/^input\.invalid: Ask exactly one of/)
    expect((await stage.call('look_back', { call: 'a', words: 'b' })).text).toMatch(/^input\.invalid/)
    expect((await stage.call('look_back', { turn: 2 })).text).toMatch(/^input\.invalid/)
    expect(stage.opened).toBe(0)
  })
})
