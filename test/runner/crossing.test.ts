import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type AgentSessionId, type Batonpass, createBatonpass, functionRuntime } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Launch, RuntimeStep } from '../../src/entry/ports.ts'
import { ENDS, logged, play, recorded, script, sleep, spoken, turn, types } from './played.ts'

let store: MemoryStore
let batonpass: Batonpass
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

type Said = Pick<RuntimeStep<never>, 'events' | 'texts'>

const WINDOW: Said = { events: [{ type: 'window', tokens: 1_000 }], texts: [] }
const answer = (key: string, promptTokens: number, ...calls: readonly string[]): Said => ({
  events: [
    { type: 'request', key, promptTokens, outputTokens: 0 },
    ...calls.map((callId) => ({ type: 'tool_call' as const, callId, toolName: 'edit' })),
  ],
  texts: [{ role: 'assistant', text: `Answer ${key}.` }],
})
const result = (text: string): Said => ({ events: [], texts: [{ role: 'tool', text }] })

/** An agent that works in its first window as it is told, and is done at once in the next. */
const agent = (first: (launch: Launch) => AsyncIterable<Said>, worksAhead = false) => {
  let launches = 0
  return functionRuntime<Said>({
    backend: 'own',
    worksAhead,
    start: (launch) => {
      launches += 1
      return launches === 1 ? first(launch) : done()
    },
    read: (said) => said,
  })
}

async function* done(): AsyncGenerator<Said> {
  yield WINDOW
  yield answer('last', 100)
}

describe('what is said between the crossing and the interruption', () => {
  it('is on record: the results of the crossing turn, in that turn', async () => {
    const runtime = script([{ turns: [turn(900, 'edit', 'test')] }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime)
    const { sessions, handoffs } = await recorded(batonpass, summary)
    const { items } = await store.messages.listTurns(sessions[0]?.id as AgentSessionId, { limit: 10 })
    expect(items).toHaveLength(1)
    expect(handoffs).toMatchObject([{ status: 'completed', priorTurnId: items[0]?.id }])
    expect(handoffs[0]?.triggeringToolCalls).toEqual(items[0]?.toolCalls)
    const messages = (await store.messages.listMessages(summary.conversationId, { limit: 100 })).items
    const crossing = messages.filter(({ turnId }) => turnId === items[0]?.id)
    expect(crossing.map(({ role, text }) => `${role}: ${text}`)).toEqual(['assistant: At 900.', 'tool: ok', 'tool: ok'])
    expect(await logged(batonpass, summary)).toContain('turn.extended')
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ ok: true, value: { intact: true } })
  })

  it('is on record when the agent does not stop at once', async () => {
    const runtime = agent(async function* ({ signal }) {
      yield WINDOW
      yield answer('one', 900, 'call-1')
      yield result('First.')
      while (!signal.aborted) await sleep(1)
      yield { events: [], texts: [{ role: 'assistant', text: 'I was about to' }] }
    }, true)
    const { summary, messages } = await play(batonpass, runtime)
    const texts = await spoken(store, summary)
    expect(texts.slice(1, 4)).toEqual(['assistant: Answer one.', 'tool: First.', 'assistant: I was about to'])
    expect(messages).toContainEqual({ events: [], texts: [{ role: 'assistant', text: 'I was about to' }] })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
  })

  it('leaves nothing out that was shown', async () => {
    const runtime = agent(async function* ({ signal }) {
      yield WINDOW
      for (let number = 1; number < 50 && !signal.aborted; number += 1) {
        yield answer(`${number}`, 900 + number, `call-${number}`)
        yield result(`Result ${number}.`)
      }
    })
    const { summary, messages } = await play(batonpass, runtime)
    const shown = (messages as readonly Said[]).flatMap(({ texts }) =>
      texts.map(({ role, text }) => `${role}: ${text}`),
    )
    const texts = await spoken(store, summary)
    expect(shown.filter((text) => !texts.includes(text))).toEqual([])
  })
})

describe('a tool that runs when the session is to be left', () => {
  it.each([0, 3])('is waited for, also when its answer comes %d ms after the turn that crossed', async (pause) => {
    let wasCut = false
    const runtime = agent(async function* ({ signal }) {
      yield WINDOW
      yield answer('one', 900, 'call-1')
      yield result('First.')
      await sleep(pause)
      yield answer('two', 920, 'call-2')
      for (let waited = 0; waited < 60 && !wasCut; waited += 1) {
        await sleep(1)
        wasCut ||= signal.aborted
      }
      yield result(wasCut ? 'Cut off.' : 'Second.')
      while (!signal.aborted) await sleep(1)
    }, true)
    const { summary } = await play(batonpass, runtime)
    expect(wasCut).toBe(false)
    expect((await spoken(store, summary)).slice(1, 5)).toEqual([
      ...['assistant: Answer one.', 'tool: First.', 'assistant: Answer two.', 'tool: Second.'],
    ])
    expect(summary.restarts).toBe(1)
  })

  it('is not waited for by a runtime that never says what a tool answered', async () => {
    const runtime = agent(async function* ({ signal }) {
      yield WINDOW
      for (let number = 1; !signal.aborted; number += 1) yield answer(`${number}`, 900, `call-${number}`)
    })
    const { summary, events } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(types(events)).toContain('context:handoff:complete')
  })
})
