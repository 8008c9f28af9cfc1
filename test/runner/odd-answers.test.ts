import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import {
  type AgentSessionId,
  type Batonpass,
  createBatonpass,
  everyPage,
  functionRuntime,
  type MessageInHistory,
  type RunSummary,
  type Turn,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { RuntimeStep } from '../../src/entry/ports.ts'
import { play, TASK } from './played.ts'

let store: MemoryStore
let batonpass: Batonpass
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

type Said = Pick<RuntimeStep<never>, 'events' | 'texts'> & Partial<RuntimeStep<never>>

const agent = (...steps: readonly Said[]) =>
  functionRuntime<Said>({
    backend: 'odd',
    start: async function* () {
      yield* steps
    },
    read: (said) => said,
  })

const answer = (text: string, ...calls: readonly { readonly callId?: string; readonly toolName: string }[]): Said => ({
  events: calls.map((call) => ({ type: 'tool_call' as const, ...call })),
  texts: [{ role: 'assistant', text }],
})

const turnsOf = async ({ lastSessionId }: RunSummary): Promise<readonly Turn[]> => {
  const turns: Turn[] = []
  const list = (page: Parameters<typeof store.messages.listTurns>[1]) =>
    store.messages.listTurns(lastSessionId as AgentSessionId, page)
  for await (const turn of everyPage(list)) turns.push(turn)
  return turns
}

const messagesOf = async ({ conversationId }: RunSummary): Promise<readonly MessageInHistory[]> => {
  const messages: MessageInHistory[] = []
  for await (const message of everyPage((page) => store.messages.listMessages(conversationId, page)))
    messages.push(message)
  return messages.slice(1)
}

const LONG = 'n'.repeat(1_000)

describe('names that cannot be kept as they are', () => {
  it('of tools are cut or made up, and the run goes its way', async () => {
    const { summary } = await play(
      batonpass,
      agent(
        answer('Blank.', { callId: '', toolName: 'edit' }, { callId: ' \t', toolName: '' }, { toolName: '  ' }),
        answer('Long.', { callId: `${LONG}1`, toolName: LONG }),
        answer('Plain.', { callId: 'call-1', toolName: 'edit' }),
      ),
    )
    expect(summary).toMatchObject({ outcome: 'completed', turns: 3 })
    const calls = (await turnsOf(summary)).map(({ toolCalls }) =>
      toolCalls.map(({ callId, toolName }) => `${callId} ${toolName}`),
    )
    expect(calls).toEqual([
      ['unnamed-1 edit', 'unnamed-2 unnamed', 'unnamed-3 unnamed'],
      [`${LONG.slice(0, 300)} ${LONG.slice(0, 300)}`],
      ['call-1 edit'],
    ])
  })

  it('of sessions do not end the run either', async () => {
    const named = (providerSessionId: string): Said => ({ ...answer('Hello.'), providerSessionId })
    const { summary } = await play(batonpass, agent(named(' '), named(LONG)))
    expect(summary).toMatchObject({ outcome: 'completed', turns: 2 })
    const session = await batonpass.history.session(summary.lastSessionId as AgentSessionId)
    expect(session?.providerSessionId).toBe(LONG.slice(0, 300))
  })
})

describe('a text that is too long', () => {
  it('is cut between characters, and says which text it was', async () => {
    const whole = `${'x'.repeat(999_999)}😀 and more`
    const { summary } = await play(batonpass, agent(answer(whole), answer('Short.')))
    const [cut, short] = await messagesOf(summary)
    expect(cut?.text).toBe('x'.repeat(999_999))
    expect(cut?.cut).toEqual({ length: whole.length, sha256: createHash('sha256').update(whole).digest('hex') })
    expect(short).not.toHaveProperty('cut')
  })
})

describe('a secret that lies where a text is cut', () => {
  it('is not kept in part: texts are redacted before they are cut', async () => {
    const redacting = await createBatonpass({ store, redact: (text) => text.replaceAll('hunter2-hunter2', '***') })
    const whole = `${'x'.repeat(999_990)}hunter2-hunter2 and more words after the key`
    const { summary } = await play(redacting, agent(answer(whole)))
    const [cut] = await messagesOf(summary)
    expect(cut?.text.slice(999_985)).not.toContain('hunter2')
    const masked = whole.replace('hunter2-hunter2', '***')
    expect(cut?.cut).toEqual({ length: masked.length, sha256: createHash('sha256').update(masked).digest('hex') })
  })
})

describe('a turn that is too long', () => {
  it('is ended when it is full, and nothing of it is lost', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => ({
      role: 'assistant' as const,
      text: `${index} ${'é'.repeat(400_000)}`,
    }))
    const { summary } = await play(batonpass, agent({ events: [], texts }))
    const messages = await messagesOf(summary)
    expect(messages.map(({ text }) => text)).toEqual(texts.map(({ text }) => text))
    const sizes = new Map<string, number>()
    for (const { turnId = '', text } of messages) sizes.set(turnId, (sizes.get(turnId) ?? 0) + Buffer.byteLength(text))
    expect(sizes.size).toBeGreaterThan(1)
    expect(Math.max(...sizes.values())).toBeLessThan(16_777_216)
  })

  it('of thousands of messages is ended too', async () => {
    const texts = Array.from({ length: 4_500 }, (_, index) => ({ role: 'tool' as const, text: `${index}` }))
    const { summary } = await play(batonpass, agent({ events: [], texts }, answer('Done.')))
    expect((await messagesOf(summary)).map(({ text }) => text)).toEqual([...texts.map(({ text }) => text), 'Done.'])
    // Two of its three turns on record hold results alone, and nobody was asked for those.
    expect(summary.turns).toBe(1)
  })
})

describe('figures and words that a reader of somebody else got wrong', () => {
  const request = (more: object): Said => ({
    events: [{ type: 'request', key: 'r1', promptTokens: 40, outputTokens: 9, ...more } as never],
    texts: [{ role: 'assistant', text: 'Answer.' }],
  })
  const event = (given: unknown): Said => ({ ...answer('Answer.'), events: [given as never] })
  const said = (given: unknown): Said => ({ ...answer('Answer.'), texts: [given as never] })
  const totals = (given: unknown): Said => ({ ...answer('Answer.'), totals: given as never })

  it.each<[string, Said]>([
    ['a negative prompt', request({ promptTokens: -5 })],
    ['half a token', request({ outputTokens: 1.5 })],
    ['no figure at all', request({ promptTokens: Number.NaN, outputTokens: undefined })],
    ['a request without a name', request({ key: null })],
    ['a model that is no text', request({ model: 7 })],
    ['a late answer count', event({ type: 'answered', outputTokens: -1 })],
    ['a percentage below nothing', event({ type: 'percentage', usedPercent: -3 })],
    ['a window of no size', event({ type: 'window', tokens: 0 })],
    ['a compaction for no known reason', event({ type: 'compaction', trigger: 'boredom', preTokens: -1 })],
    ['a call without a name', event({ type: 'tool_call', callId: null, toolName: undefined })],
    ['a call whose argument is an object', event({ type: 'tool_call', callId: 'c', toolName: 'edit', argument: {} })],
    ['an event that is none', event(null)],
    ['an event of a kind that is not known', event({ type: 'sneeze' })],
    ['a text that is none', said({ role: 'assistant', text: undefined })],
    ['a role that is none', said({ role: 'oracle', text: 'Hm.' })],
    ['an origin that its role cannot have', said({ role: 'assistant', text: 'Hm.', origin: 'person' })],
    ['a message whose name is no text', said({ role: 'assistant', text: 'Hm.', id: 12 })],
    ['nothing where a text is due', said(undefined)],
    ['negative totals', totals({ inputTokens: -5, outputTokens: 0 })],
    ['totals that are none', totals('twelve')],
    ['no meaning at all', undefined as never],
    ['a session whose name is no text', { ...answer('Answer.'), providerSessionId: 5 as never }],
  ])('do not fail a run: %s', async (_, odd) => {
    const last: Said = {
      events: [{ type: 'request', key: 'sound', promptTokens: 50, outputTokens: 2 }],
      texts: [{ role: 'assistant', text: 'Done.' }],
      totals: { inputTokens: 50, outputTokens: 2 },
    }
    const { summary } = await play(batonpass, agent(odd, last))
    expect(summary).toMatchObject({ outcome: 'completed', totals: { inputTokens: 50, outputTokens: 2 } })
    expect((await messagesOf(summary)).at(-1)).toMatchObject({ text: 'Done.' })
    const turns = await turnsOf(summary)
    expect(turns.at(-1)?.usage).toMatchObject({ state: 'metered', promptTokens: 50 })
  })

  it('leave what is right on record: the turn, without the figure', async () => {
    const odd = [request({ promptTokens: -5 }), event({ type: 'tool_call', callId: null, toolName: undefined })]
    const { summary } = await play(batonpass, agent(...odd, request({ key: 'r2' })))
    expect(summary).toMatchObject({ outcome: 'completed', turns: 3 })
    const turns = await turnsOf(summary)
    expect(turns.map(({ usage }) => usage.state)).toEqual(['unknown', 'unknown', 'metered'])
    expect(turns[1]?.toolCalls).toMatchObject([{ callId: 'unnamed-1', toolName: 'unnamed' }])
  })

  it('count as no figures in the answer to a question either', async () => {
    const runtime = functionRuntime<Said>({
      backend: 'odd',
      start: async function* ({ prompt }) {
        const isFull = prompt === TASK
        const promptTokens = isFull ? 900 : 100
        yield { events: [{ type: 'window', tokens: 1_000 }], texts: [] }
        yield { ...request({ key: prompt, promptTokens }), providerSessionId: 'one' }
        if (isFull) yield request({ key: 'again', promptTokens })
      },
      read: (said) => said,
      ask: async ({ onUsage }) => {
        onUsage?.({ inputTokens: -5, outputTokens: 0.5 })
        return { text: '<checkpoint>\nHalf.\n</checkpoint>', totals: { inputTokens: -5, outputTokens: 1 } }
      },
    })
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
  })
})
