import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type AgentRuntime,
  type Batonpass,
  createBatonpass,
  instant,
  StoreFailure,
  unwrap,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Clock, RuntimeStep, Store } from '../../src/entry/ports.ts'
import { type Fault, FaultInjector, type ScriptedRuntime } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps, meddledStore } from '../support/meddled-store.ts'
import { ENDS, FILLS, functionHook, play, recorded, script, sleep, spoken, TASK, turn, types } from './played.ts'

// The clock of the system never goes back, and these tests turn it forward and back again.
const clock: Clock = { now: () => instant(Date.now()) }

let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  store = new MemoryStore({ clock })
  batonpass = await createBatonpass({ store })
})

afterEach(() => void vi.useRealTimers())

const restarting = () => script([{ turns: FILLS, checkpoint: '<checkpoint>Half.</checkpoint>' }, { turns: ENDS }])

const HOOKS = (['on_session_start', 'after_handoff', 'after_run'] as const).map((moment) =>
  functionHook(moment, () => ''),
)

/** The commits of a run with one restart, each by the first thing it keeps. */
const COMMITS = [
  'conversation.opened',
  'hook.delivered',
  'session.started',
  'session.attached',
  'turn.recorded',
  'turn.recorded',
  'turn.extended',
  'session.accounted',
  'handoff.checkpointed',
  'handoff.accepted',
  'hook.delivered',
  'handoff.prepared',
  'session.handed_off',
  'hook.delivered',
  'session.attached',
  'turn.recorded',
  'session.accounted',
  'turn.recorded',
  'session.completed',
  'hook.delivered',
] as const

const SPOKEN = [
  `user: ${TASK}`,
  'assistant: At 100.',
  'tool: ok',
  'assistant: At 900.',
  'tool: ok',
  expect.stringMatching(/^user: .*Half\./s),
  'assistant: At 100.',
  'tool: ok',
  'assistant: At 150.',
]

describe('a store that is away for a moment', () => {
  it('can be away at any of these commits', async () => {
    const kept: (string | undefined)[] = []
    const watched = meddledStore(store, ({ events }) => void kept.push(events[0]?.type))
    await play(await createBatonpass({ store: watched, runs: { hooks: HOOKS } }), restarting())
    expect(kept).toEqual(COMMITS)
  })

  const faults: readonly Fault[] = ['reply_lost', 'unavailable', 'conflict']
  const cases = faults.flatMap((fault) => COMMITS.map((commit, index) => [fault, index + 1, commit] as const))

  it.each(cases)('%s at commit %i (%s): the work is done, and nothing of it twice', async (fault, nth) => {
    const injector = new FaultInjector(store)
    const faulty = meddledStore(injector.store, (_, number) => {
      if (number === nth) injector.plan(fault)
    })
    const runtime = restarting()
    const shaky = await createBatonpass({ store: faulty, runs: { hooks: HOOKS } })
    const { summary, messages, events } = await play(shaky, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 2, restarts: 1, turns: 4 })
    expect(messages).toHaveLength(7)
    expect(types(events).filter((type) => type === 'turn:recorded')).toHaveLength(4)
    expect(runtime.launches).toHaveLength(2)
    expect(runtime.questions).toHaveLength(1)
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([
      { state: 'handed_off', progress: { turns: 2 } },
      { state: 'completed', progress: { turns: 2 } },
    ])
    expect(handoffs).toMatchObject([{ status: 'completed', document: 'Half.', flags: [] }])
    expect(await spoken(store, summary)).toEqual(SPOKEN)
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ value: { intact: true } })
  })

  it('does not cost the checkpoint when it is away while that is reviewed', async () => {
    const find = vi.spyOn(store.messages, 'findToolCalls')
    find.mockRejectedValueOnce(new StoreFailure('store.unavailable', 'Away'))
    const runtime = script([{ turns: FILLS, checkpoint: '## Completed work\n- Read it [call:x]' }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime)
    expect(find.mock.calls.length).toBeGreaterThan(1)
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      { checkpoint: { outcome: 'kept', statements: { miscited: 1 } }, flags: [] },
    ])
  })

  it('does not fail work that was done before its window could be changed', async () => {
    const said = (step: Partial<RuntimeStep<string>>): RuntimeStep<string> => ({ events: [], texts: [], ...step })
    const request = (key: string, promptTokens: number) =>
      ({ type: 'request', key, promptTokens, outputTokens: 0 }) as const
    const finishes: AgentRuntime<string> = {
      backend: 'quick',
      takesSessionId: false,
      start: () => ({
        steps: (async function* () {
          const call = { type: 'tool_call', callId: 'c', toolName: 'edit' } as const
          yield said({ events: [{ type: 'window', tokens: 1_000 }, request('a', 900), call] })
          yield said({ texts: [{ role: 'tool', text: 'ok' }] })
          yield said({ events: [request('b', 910)], texts: [{ role: 'assistant', text: 'Done.' }] })
          yield said({ end: { type: 'idle' } })
        })(),
        interrupt: async () => undefined,
      }),
    }
    let isAway = true
    const flickering = meddledStore(store, (unit) => {
      if (!isAway || !keeps(unit, 'handoff.cancelled')) return
      isAway = false
      throw new StoreFailure('store.unavailable', 'Away')
    })
    const { summary } = await play(await createBatonpass({ store: flickering }), finishes)
    expect(isAway).toBe(false)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0, turns: 1 })
    expect((await spoken(store, summary)).slice(-2)).toEqual(['tool: ok', 'assistant: Done.'])
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs.map(({ status }) => status)).toEqual(['cancelled'])
  })

  it('is not tried again for an error that is none of its failures', async () => {
    let tries = 0
    const broken = meddledStore(store, (unit) => {
      if (!keeps(unit, 'handoff.prepared')) return
      tries += 1
      throw new Error('A bug of the driver')
    })
    const { summary } = await play(await createBatonpass({ store: broken }), restarting())
    expect(tries).toBe(1)
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'A bug of the driver' })
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ state: 'failed' }])
    expect(handoffs).toMatchObject([{ status: 'failed' }])
  })
})

describe('a store that stays away', () => {
  /** Runs while the store is gone from this commit on, with the time it takes passing at once. */
  const outlast = async <R extends AgentRuntime = ScriptedRuntime>(
    isGone: (commit: (typeof COMMITS)[number] | undefined) => boolean,
    patienceMs = 120_000,
    runtime: R = restarting() as unknown as R,
  ) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] })
    let isAway = false
    const leaving = meddledStore(store, ({ events }) => {
      isAway ||= isGone(events[0]?.type as (typeof COMMITS)[number])
      if (isAway) throw new StoreFailure('store.unavailable', 'The database is gone')
    })
    const renew: Store['leases']['renew'] = (...asked) =>
      isAway
        ? Promise.reject(new StoreFailure('store.unavailable', 'The database is gone'))
        : store.leases.renew(...asked)
    const leases = { ...store.leases, renew }
    const shaky = await createBatonpass({ store: { ...leaving, leases } })
    const run = shaky.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto', conversation: 'away' })
    const seen: string[] = []
    run.on(({ type }) => seen.push(type))
    const iterated = (async () => {
      for await (const _ of run);
    })().then(
      () => 'It ended well',
      (error: unknown) => error,
    )
    await vi.advanceTimersByTimeAsync(patienceMs)
    const stillRuns = new Promise<string>((resolve) => setImmediate(() => resolve('It still runs')))
    const error = await Promise.race([iterated, stillRuns])
    return { runtime, seen, error, summary: run.summary }
  }

  it.each([...new Set(COMMITS)].slice(3))(
    'from %s on it is waited for once: leaving does not wait again',
    async (commit) => {
      const { seen, error } = await outlast((type) => type === commit, 61_000)
      expect(error).toBeInstanceOf(StoreFailure)
      expect(seen.at(-1)).toBe('run:end')
    },
  )

  it('is waited for once though an answer is still to be recorded', async () => {
    const said = (key: string): RuntimeStep<string> => ({
      message: key,
      events: [{ type: 'request', key, promptTokens: 10, outputTokens: 1 }],
      texts: [{ role: 'assistant', text: key }],
    })
    const talks: AgentRuntime<string> = {
      backend: 'talking',
      takesSessionId: false,
      start: () => ({
        steps: (async function* () {
          yield said('one')
          yield said('two')
          yield { events: [], texts: [], end: { type: 'idle' } }
        })(),
        interrupt: async () => undefined,
      }),
    }
    const { seen, error } = await outlast((type) => type === 'turn.recorded', 61_000, talks)
    expect(error).toBeInstanceOf(StoreFailure)
    expect(seen.at(-1)).toBe('run:end')
  })

  it.each(['turn.recorded', 'handoff.accepted', 'session.handed_off', 'session.completed'] as const)(
    'from %s on: the run says that it is over, and recovery finishes it later',
    async (commit) => {
      const { runtime, seen, error } = await outlast((type) => type === commit)
      expect(error).toBeInstanceOf(StoreFailure)
      expect(seen.at(-1)).toBe('run:end')
      const recovering = batonpass.recover({ runtimes: [runtime] })
      await vi.advanceTimersByTimeAsync(1_000)
      const recovered = await recovering
      expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed' } }])
      const [{ conversationId }] = recovered as [(typeof recovered)[0]]
      const { sessions, handoffs } = await recorded(batonpass, { conversationId })
      const isRestarted = commit !== 'turn.recorded'
      expect(sessions.at(-1)).toMatchObject({ state: 'completed' })
      if (isRestarted) expect(handoffs).toMatchObject([{ status: 'completed' }])
      expect(await batonpass.audit.verify(conversationId)).toMatchObject({ value: { intact: true } })
    },
  )

  it('before there is a conversation: the iteration and the summary reject with its failure', async () => {
    const { error, summary, runtime } = await outlast(() => true)
    expect(error).toBeInstanceOf(StoreFailure)
    await expect(summary).rejects.toBe(error)
    expect(runtime.launches).toEqual([])
  })

  it('when only the call of the last hook is to be logged: the work is done, and the run says so', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    let isOver = false
    const leaving = meddledStore(store, (unit) => {
      if (isOver) throw new StoreFailure('store.unavailable', 'The database is gone')
      isOver = keeps(unit, 'session.completed')
    })
    const shaky = await createBatonpass({ store: leaving, runs: { hooks: HOOKS } })
    const run = shaky.run({ runtime: script([{ turns: ENDS }]), agent: 'claude', prompt: TASK })
    const seen: string[] = []
    run.on(({ type }) => seen.push(type))
    const rejected = expect(run.finish()).rejects.toBeInstanceOf(StoreFailure)
    await vi.advanceTimersByTimeAsync(11_000)
    await rejected
    expect(seen.at(-1)).toBe('run:end')
    const summary = await run.summary
    expect(summary).toMatchObject({ outcome: 'completed', turns: 2 })
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'completed' }])
  })

  it('tells of the end what the run came to: it failed, because of the store', async () => {
    const { summary } = await outlast((type) => type === 'handoff.accepted')
    expect(await summary).toMatchObject({ outcome: 'failed', reason: 'The database is gone', sessions: 1 })
  })
})

describe('recovery', () => {
  const LEASE_MS = 20

  const abandon = async (...keys: readonly string[]) => {
    for (const externalKey of keys) {
      const opened = unwrap(await batonpass.handoffs.openConversation({ originalTask: TASK, externalKey }))
      const agent = { agentName: 'claude', backend: 'scripted', leaseMs: LEASE_MS, prompt: TASK }
      unwrap(await batonpass.handoffs.startSession({ conversationId: opened.conversation.id, ...agent }))
    }
    await sleep(2 * LEASE_MS)
  }

  it.each([
    ['with a runtime', [script([{ turns: ENDS }])], 'resumed', 'completed'],
    ['without one', [], 'failed', 'failed'],
  ] as const)('%s is not kept from the others by one that it cannot finish', async (_, runtimes, type, state) => {
    await abandon('a', 'b', 'c')
    let isBroken = true
    const broken = meddledStore(store, (unit) => {
      if (!isBroken || !keeps(unit, 'session.taken_over')) return
      isBroken = false
      throw new Error('A bug of the driver')
    })
    const recovering = await createBatonpass({ store: broken })
    const recovered = await recovering.recover({ atOnce: 1, runtimes })
    expect(recovered.map((one) => one.type)).toEqual(['unfinished', type, type])
    const { items } = await store.sessions.list({}, {})
    expect(items.map((session) => session.state).sort()).toEqual(['active', state, state].sort())
    const again = await recovering.recover({ atOnce: 1, runtimes })
    expect(again.map((one) => one.type)).toEqual([type])
  })

  it('of a second window that had spoken once goes on in a third, and does not call it full again', async () => {
    const windows = [
      { turns: FILLS, checkpoint: '<checkpoint>Half.</checkpoint>' },
      { turns: [turn(100, 'a'), turn(110)] },
      { turns: ENDS },
    ]
    const runtime = script(windows, { canResume: false })
    let turns = 0
    const { store: last, lost } = lostProcess(
      store,
      (unit) => {
        if (keeps(unit, 'turn.recorded')) turns += 1
        return turns === 3
      },
      { stillReads: true },
    )
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto', leaseMs: LEASE_MS }).finish()
    await lost
    await sleep(2 * LEASE_MS)
    const recovered = await batonpass.recover({ runtimes: [runtime] })
    expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed', restarts: 1 } }])
    const [{ conversationId }] = recovered as [(typeof recovered)[0]]
    const { sessions } = await recorded(batonpass, { conversationId })
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'handed_off', 'completed'])
  })

  it('leaves what was handed to another agent, until that is cancelled', async () => {
    const opened = unwrap(await batonpass.handoffs.openConversation({ originalTask: TASK }))
    const agent = { agentName: 'claude', backend: 'scripted', leaseMs: LEASE_MS, prompt: TASK }
    const begun = unwrap(await batonpass.handoffs.startSession({ conversationId: opened.conversation.id, ...agent }))
    const { session, holder } = unwrap(
      await batonpass.handoffs.recordTurn({ ...begun, messages: [{ role: 'assistant', text: 'Done.' }] }),
    )
    const wanted = { session, holder, targetAgent: 'reviewer', reason: 'Please review' }
    const { handoff } = unwrap(await batonpass.handoffs.initiateHandoff(wanted))
    await sleep(2 * LEASE_MS)
    const runtimes = [script([{ turns: ENDS }])]
    expect((await batonpass.recover({ runtimes })).map(({ type }) => type)).toEqual(['handed_over'])
    expect(await batonpass.history.handoff(handoff.id)).toMatchObject({ status: 'initiated' })
    unwrap(await batonpass.handoffs.cancelHandoff({ handoff: handoff.id, reason: 'Nobody came' }))
    expect((await batonpass.recover({ runtimes })).map(({ type }) => type)).toEqual(['resumed'])
  })
})
