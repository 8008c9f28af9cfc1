import { describe, expect, it } from 'vitest'
import { hasTooManyParts } from '../../src/adapters/config/text-limits.ts'
import { readConfiguration } from '../../src/entry/index.ts'
import { fileWith, problemsIn } from './checking.ts'

const ROOM = 250_000
const filled = (unit: string): string => unit.repeat(Math.floor(ROOM / unit.length))
const numbered = (line: (at: number) => string, count: number): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('')

/** Texts within the size of a file whose reading took seconds, or would take far longer if files could be larger. */
const PATHOLOGICAL: [what: string, text: string][] = [
  ['a bracket and commas', `[${','.repeat(200_000)}`],
  ['a brace and commas', `{${','.repeat(200_000)}`],
  ['brackets', filled('[')],
  ['brackets that close', '['.repeat(ROOM / 2) + ']'.repeat(ROOM / 2)],
  ['closing brackets', filled(']')],
  ['braces', filled('{a: ')],
  ['dashes', filled('- ')],
  ['questions', filled('? ')],
  ['colons', filled(':\n')],
  ['keys', numbered((at) => `k${at}: 1\n`, 20_000)],
  ['keys in braces', `{${numbered((at) => `k${at}: 1,`, 20_000)}}`],
  ['empty keys', `{${':,'.repeat(100_000)}}`],
  ['the same key', filled('a: 1\n')],
  ['anchors', filled('- &a x\n')],
  ['aliases', `- &a x\n${filled('- *a\n')}`],
  ['tags', filled('- !t x\n')],
  ['tags alone', filled('! ')],
  ['documents', filled('---\n')],
  ['directives', filled('%TAG !a! b\n')],
  ['comments', filled('#\n')],
  ['blank lines', filled('\n')],
  ['line breaks of old', filled('\r\n')],
  ['quotes', filled('"" ')],
  ['wrong escapes', `a: "${'\\q'.repeat(100_000)}"`],
  ['half escapes', `a: "${'\\u00'.repeat(60_000)}"`],
  ['a quote that never ends', `a: "${'\\q'.repeat(100_000)}`],
  ['numbers', `[${'1,'.repeat(100_000)}1]`],
]

describe('a text of more parts than a person writes', () => {
  it.each(PATHOLOGICAL)('is refused before it is read: %s', async (_, text) => {
    for (const name of ['a.yaml', 'a.json'])
      expect(await problemsIn(fileWith(text, name))).toEqual([
        { path: '', problem: 'it has too many parts', advice: 'Keep what a person would write.' },
      ])
  })

  it('is looked at no further than the first part that is too many', () => {
    let read = 0
    function* endless(): Generator<string> {
      for (;;) {
        read += 1
        yield ','
      }
    }
    expect(hasTooManyParts('', endless)).toBe(true)
    expect(read).toBe(10_001)
  })

  it('is not one long text, on one line or on many', async () => {
    for (const long of [`"${'x'.repeat(ROOM)}"`, `|\n${filled('    line\n')}`, `>\n${filled('    line\n')}`]) {
      const { configuration } = await readConfiguration(fileWith(`restart:\n  template: ${long}\n`))
      expect(configuration.restart.template?.length).toBeGreaterThan(100_000)
    }
  })

  it('is not a configuration with a hundred hooks', async () => {
    const hook = (at: number) =>
      `    - type: webhook\n      name: hook ${at} # why\n      url: https://example.org/${at}\n      timeout: 5s\n      headers:\n        X-Team: core\n`
    const text = `hooks:\n  after_run:\n${numbered(hook, 100)}`
    expect((await readConfiguration(fileWith(text))).configuration.hooks).toHaveLength(100)
  })
})
