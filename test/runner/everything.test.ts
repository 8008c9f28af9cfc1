import { beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import {
  type AgentSessionId,
  type Batonpass,
  createBatonpass,
  functionRuntime,
  type RunEvent,
  type RunItem,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import { FixedClock, type ScriptedMessage } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps, meddledStore } from '../support/meddled-store.ts'
import { ENDS, FILLS, recorded, script, TASK } from './played.ts'

let clock: FixedClock
let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  clock = new FixedClock()
  store = new MemoryStore({ clock })
  batonpass = await createBatonpass({ store })
})

const full = { turns: FILLS, checkpoint: 'Half.' }
const restarting = (more: Parameters<typeof script>[1] = {}) => script([full, { turns: ENDS }], more)
const request = { agent: 'claude', prompt: TASK, policy: 'auto' } as const

const wordOf = (item: RunItem<ScriptedMessage>): string => (item.type === 'message' ? item.message.text : item.type)

/** Everything of a run in three windows, and of each message the session it belongs to. */
const threeWindows = async () => {
  const items: RunItem<ScriptedMessage>[] = []
  const run = batonpass.run({ ...request, runtime: script([full, full, { turns: ENDS }]) })
  for await (const item of run.everything()) {
    items.push(item)
    // Whoever reads takes their time: what comes meanwhile is not to overtake what came before.
    for (let tick = 0; tick < 20; tick += 1) await new Promise(setImmediate)
  }
  return { items, summary: await run.summary }
}

type Marker = Extract<RunEvent, { type: 'context:handoff:complete' }>

/** Where in a list an item stands that fits. */
const places = (
  items: readonly RunItem<ScriptedMessage>[],
  fits: (item: RunItem<ScriptedMessage>) => boolean,
): readonly number[] => items.flatMap((item, index) => (fits(item) ? [index] : []))

describe('everything of a run, in one stream', () => {
  it('is messages and events in the order in which they happened', async () => {
    const run = batonpass.run({ ...request, runtime: restarting() })
    const said: string[] = []
    for await (const item of run.everything()) said.push(wordOf(item))
    expect(said).toEqual([
      ...['session:start', 'At 100.', 'turn:recorded', 'ok', 'At 900.', 'turn:recorded', 'context:milestone', 'ok'],
      ...['context:handoff:start', 'context:handoff:checkpoint', 'session:end', 'context:handoff:complete'],
      ...['session:start', 'At 100.', 'turn:recorded', 'ok', 'At 150.', 'turn:recorded', 'session:end', 'run:end'],
    ])
  })

  it('has a marker between the last message of a session and the first of the next, which names both', async () => {
    const { items, summary } = await threeWindows()
    const { sessions } = await recorded(batonpass, summary)
    const ids = sessions.map(({ id }) => id)
    expect(ids).toHaveLength(3)
    const markers = items.filter((item): item is Marker => item.type === 'context:handoff:complete')
    expect(markers.map(({ oldSessionId, newSessionId }) => [oldSessionId, newSessionId])).toEqual([
      [ids[0], ids[1]],
      [ids[1], ids[2]],
    ])
    for (const marker of markers) {
      const of = (id: AgentSessionId) => places(items, (item) => item.type === 'message' && item.sessionId === id)
      const [before, at, after] = [of(marker.oldSessionId), items.indexOf(marker), of(marker.newSessionId)]
      expect(before.length).toBeGreaterThan(0)
      expect(Math.max(...before)).toBeLessThan(at)
      expect(Math.min(...after)).toBeGreaterThan(at)
    }
  })

  it('is what a listener and the stream of messages see together', async () => {
    const { items } = await threeWindows()
    const run = batonpass.run({ ...request, runtime: script([full, full, { turns: ENDS }]) })
    const seen: string[] = []
    run.on(({ type }) => seen.push(type))
    for await (const { text } of run) seen.push(text)
    expect(items.map(wordOf)).toEqual(seen)
  })

  it('names the session of messages also where a run resumes an orphaned one', async () => {
    const [conversation, leaseMs] = ['left', 30_000]
    const runtime = script([{ turns: [...ENDS, ...ENDS] }])
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'turn.recorded'), { stillReads: true })
    const first = (await createBatonpass({ store: last })).run({ ...request, runtime, conversation, leaseMs })
    void first.finish()
    await lost
    clock.advance(leaseMs + 1)
    const sessions = new Set<unknown>()
    const again = batonpass.run({ ...request, runtime, conversation })
    for await (const item of again.everything()) if (item.type === 'message') sessions.add(item.sessionId)
    const { lastSessionId, ...summary } = await again.summary
    expect(summary).toMatchObject({ outcome: 'completed' })
    expect((await recorded(batonpass, summary)).sessions).toHaveLength(1)
    expect([...sessions]).toEqual([lastSessionId])
  })

  it('tells what happens while the agent says nothing', async () => {
    let answer = (): void => {}
    const heard = new Promise<void>((resolve) => {
      answer = resolve
    })
    const runtime = functionRuntime<number>({
      backend: 'slow',
      reportsWindow: true,
      start: async function* () {
        yield 1
        await heard // for ever, unless what happened before was told
        yield 2
      },
      read: (number) => ({
        events: [{ type: 'request', key: `${number}`, promptTokens: number, outputTokens: 0 }],
        texts: [{ role: 'assistant', text: `${number}` }],
      }),
    })
    const run = batonpass.run({ ...request, runtime })
    const seen: unknown[] = []
    for await (const item of run.everything()) {
      seen.push(item.type === 'message' ? item.message : item.type)
      if (item.type === 'session:start') answer()
    }
    expect(seen.slice(0, 2)).toEqual(['session:start', 1])
    expect(seen).toContain(2)
  })

  it('does not let the agent run ahead: at a message it waits, after an event it comes to its next message', async () => {
    let said = 0
    const runtime = restarting({
      onStep: ({ message }) => {
        if (message !== undefined) said += 1
      },
    })
    let messages = 0
    for await (const item of batonpass.run({ ...request, runtime }).everything()) {
      if (item.type === 'message') messages += 1
      // Whoever reads takes their time; what could go on meanwhile has gone on then.
      for (let tick = 0; tick < 50; tick += 1) await new Promise(setImmediate)
      const isMarker = item.type === 'context:handoff:complete'
      expect(said - messages).toBeLessThanOrEqual(item.type === 'message' || isMarker ? 0 : 1)
    }
    expect(messages).toBe(7)
  })

  it('says who speaks by its type alone', () => {
    expectTypeOf<Extract<RunItem<string>, { type: 'message' }>['message']>().toEqualTypeOf<string>()
    expectTypeOf<Exclude<RunItem<string>, { type: 'message' }>>().toEqualTypeOf<RunEvent>()
    expectTypeOf<Extract<RunItem<string>, { type: 'message' }>['sessionId']>().toEqualTypeOf<AgentSessionId>()
  })
})

describe('left early', () => {
  const LEFT = 'The caller left the run before it was over.'

  it.each(['At 900.', 'context:handoff:start', 'context:handoff:checkpoint'])(
    'at "%s": the run is cancelled, its session paused, and nothing more is launched',
    async (word) => {
      const runtime = restarting()
      const run = batonpass.run({ ...request, runtime })
      for await (const item of run.everything()) if (wordOf(item) === word) break
      const summary = await run.summary
      expect(summary).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining(LEFT), restarts: 0 })
      expect(runtime.launches).toHaveLength(1)
      const { sessions, handoffs } = await recorded(batonpass, summary)
      expect(sessions.map(({ state }) => state)).toEqual(['paused'])
      expect(handoffs.every(({ status }) => status === 'cancelled')).toBe(true)
    },
  )

  it('at the marker: the successor is there and paused, and was not asked anything', async () => {
    const runtime = restarting()
    const run = batonpass.run({ ...request, runtime })
    for await (const item of run.everything()) if (item.type === 'context:handoff:complete') break
    const summary = await run.summary
    expect(summary).toMatchObject({ outcome: 'cancelled', restarts: 1 })
    expect((await recorded(batonpass, summary)).sessions.map(({ state }) => state)).toEqual(['handed_off', 'paused'])
    expect(runtime.launches).toHaveLength(1)
  })

  it('while an agent says nothing for ever, by whoever holds the iterator', async () => {
    const runtime = functionRuntime<string>({
      backend: 'silent',
      start: async function* ({ signal }) {
        yield 'One.'
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }] }),
    })
    for (const streamOf of ['everything', 'messages'] as const) {
      const run = batonpass.run({ ...request, runtime, conversation: streamOf })
      const stream: AsyncIterable<unknown> = streamOf === 'messages' ? run : run.everything()
      const items = stream[Symbol.asyncIterator]()
      const first = await items.next()
      const waiting: unknown[] = [first.value]
      for (let asked = 0; asked < 4; asked += 1) waiting.push(items.next())
      await items.return?.()
      expect((await run.summary).outcome).toBe('cancelled')
      await Promise.all(waiting)
    }
  })

  it('before it has begun, it has no summary, and nothing was stored', async () => {
    const run = batonpass.run({ ...request, runtime: restarting(), conversation: 'never' })
    await run.everything()[Symbol.asyncIterator]().return?.()
    await expect(run.summary).rejects.toThrow('left before it had begun')
    expect(await batonpass.history.conversationByKey('never')).toBeUndefined()
  })
})

describe('a run that breaks', () => {
  it('tells what happened first, and then throws', async () => {
    const broken = meddledStore(store, (unit) => {
      if (keeps(unit, 'session.completed')) throw new Error('A bug of the driver')
    })
    const run = (await createBatonpass({ store: broken })).run({ ...request, runtime: script([{ turns: ENDS }]) })
    const seen: string[] = []
    const read = async () => {
      for await (const item of run.everything()) seen.push(wordOf(item))
    }
    await expect(read()).rejects.toThrow('A bug of the driver')
    expect(seen.at(-1)).toBe('run:end')
  })

  it('because another process works the conversation throws its refusal, and tells nothing', async () => {
    const conversation = 'taken'
    const first = batonpass.run({ ...request, runtime: restarting(), conversation })
    for await (const _ of first) {
      const second = batonpass.run({ ...request, runtime: restarting(), conversation }).everything()
      await expect(second[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'session.leased' })
      break
    }
  })

  it('can be read once, as either stream', async () => {
    const run = batonpass.run({ ...request, runtime: restarting() })
    for await (const _ of run.everything());
    expect(() => run[Symbol.asyncIterator]()).toThrow('can be iterated once')
    expect(() => run.everything()[Symbol.asyncIterator]()).toThrow('can be iterated once')
    expect((await run.finish()).outcome).toBe('completed')
  })
})
