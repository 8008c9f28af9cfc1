import { beforeEach, describe, expect, it } from 'vitest'
import type { MessageMeaning } from '../../src/adapters/runtime/function-runtime.ts'
import { type Batonpass, createBatonpass, everyPage, functionRuntime, type RunEvent } from '../../src/entry/index.ts'
import { play, recorded, script, turn } from './played.ts'

const of = <Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type) =>
  events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type)

const answer = (key: string, promptTokens?: number): MessageMeaning => ({
  texts: [{ role: 'assistant', text: `Answer ${key}.` }],
  events: promptTokens === undefined ? [] : [{ type: 'request', key, promptTokens, outputTokens: 10, model: 'm-1' }],
})
const compacted = (preTokens: number): MessageMeaning => ({
  events: [{ type: 'compaction', trigger: 'auto', preTokens, key: `at ${preTokens}` }],
})

/** An agent that says this, in its first window; in any other it is done at once. */
const saying = (...said: readonly MessageMeaning[]) => {
  let launches = 0
  return functionRuntime<MessageMeaning>({
    backend: 'scripted',
    start: async function* ({ signal }) {
      launches += 1
      const all = launches === 1 ? said : [answer(`of window ${launches}`, 100)]
      for (const meaning of all) {
        yield meaning
        if (signal.aborted) return
      }
    },
    read: (meaning) => meaning,
  })
}

describe('a run in a window that is smaller than it was thought to be', () => {
  let batonpass: Batonpass
  beforeEach(async () => {
    batonpass = await createBatonpass({ store: 'memory' })
  })

  it('restarts before the runtime compacts once more, and says what it learned', async () => {
    const window: MessageMeaning = { events: [{ type: 'window', tokens: 1_000_000 }] }
    const runtime = saying(
      window,
      ...[answer('1', 174_000), compacted(175_000), answer('2', 30_000), answer('3', 160_000)],
      ...[answer('4', 170_000), answer('5', 172_000)],
    )
    const { summary, events } = await play(batonpass, runtime)
    expect(of(events, 'context:window:lowered')).toMatchObject([{ fromTokens: 1_000_000, toTokens: 175_000 }])
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([{ reason: expect.stringContaining('of 175k') }])
    // The log has it too.
    const [first] = sessions
    const lowered: unknown[] = []
    for await (const { event } of everyPage((page) => batonpass.history.auditTrail(summary.conversationId, page)))
      if (event.type === 'context.compacted') lowered.push([event.sessionId, event.loweredTo])
    expect(lowered).toEqual([[first?.id, 175_000]])
  })

  it('says nothing of a compaction where it was to be expected', async () => {
    const known: MessageMeaning = {
      events: [
        { type: 'window', tokens: 200_000 },
        { type: 'auto_compact_at', tokens: 167_000 },
      ],
    }
    const { events } = await play(batonpass, saying(known, answer('1', 1_000), compacted(168_000), answer('2', 30_000)))
    expect(of(events, 'context:compaction')).toHaveLength(1)
    expect(of(events, 'context:window:lowered')).toEqual([])
  })
})

describe('a run in a window that nobody knows', () => {
  let batonpass: Batonpass
  beforeEach(async () => {
    batonpass = await createBatonpass({ store: 'memory' })
  })

  it('says once that no restart is possible, with the model that nobody knows', async () => {
    const { summary, events } = await play(batonpass, saying(...[1, 2, 3, 4].map((n) => answer(`${n}`, n * 100_000))))
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0, turns: 4 })
    const { sessions } = await recorded(batonpass, summary)
    expect(of(events, 'context:window:unknown')).toMatchObject([
      { sessionId: sessions[0]?.id, why: 'no_window', model: 'm-1' },
    ])
  })

  it('says so at the end when there was one turn only', async () => {
    const { events } = await play(batonpass, saying(answer('1', 100_000)))
    expect(of(events, 'context:window:unknown')).toHaveLength(1)
  })

  it('says so when the agent tells nothing of its usage', async () => {
    const { events } = await play(batonpass, saying(answer('1'), answer('2'), answer('3')))
    expect(of(events, 'context:window:unknown')).toMatchObject([{ why: 'no_reading', model: null }])
  })

  it.each([
    ['which the runtime tells after the first turn', script([{ turns: [turn(100), turn(150)] }]), {}],
    ['with a limit of the user’s own', saying(answer('1', 100), answer('2', 200)), { contextLimit: 1_000 }],
    ['and restarts are not wanted', saying(answer('1', 100), answer('2', 200)), { policy: 'advise' as const }],
  ])('says nothing of a window %s', async (_, runtime, more) => {
    const { events } = await play(batonpass, runtime, more)
    expect(of(events, 'context:window:unknown')).toEqual([])
  })

  it('says nothing of what is not known for a moment, after a compaction', async () => {
    const late: MessageMeaning = { events: [{ type: 'window', tokens: 1_000 }] }
    const runtime = saying(answer('1', 100), late, answer('2', 200), compacted(900), answer('3'), answer('4', 150))
    expect(of((await play(batonpass, runtime)).events, 'context:window:unknown')).toEqual([])
  })
})
