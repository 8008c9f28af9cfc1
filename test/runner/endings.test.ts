import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import {
  type AgentRuntime,
  type Batonpass,
  createBatonpass,
  functionRuntime,
  type HolderToken,
  type RunEvent,
  type RunRequest,
  unwrap,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { RunningAgent, RuntimeStep, Store } from '../../src/entry/ports.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps, meddledStore } from '../support/meddled-store.ts'
import { ENDS, FILLS, functionHook, play, recorded, script, sleep, spoken, TASK, turn, types } from './played.ts'

let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

afterEach(() => void vi.useRealTimers())

const KEY = 'endings'
const restarting = (checkpointMs = 0) => script([{ turns: FILLS, checkpoint: 'Half.', checkpointMs }, { turns: ENDS }])
const request = { agent: 'claude', prompt: TASK, policy: 'auto', conversation: KEY } as const

/** What was stored of the conversation that these tests are about. */
const stored = async () => {
  const conversation = await batonpass.history.conversationByKey(KEY)
  if (conversation === undefined) throw new Error('There is no conversation')
  const { sessions, handoffs } = await recorded(batonpass, { conversationId: conversation.id })
  return { states: sessions.map(({ state }) => state), statuses: handoffs.map(({ status }) => status), sessions }
}

type Start = Extract<RunEvent, { type: 'context:handoff:start' }>

/** Runs with one restart, and does this when it begins. */
const meddle = async (runtime: AgentRuntime, atStart: (event: Start) => unknown, more: Partial<RunRequest> = {}) => {
  const run = batonpass.run({ ...request, ...more, runtime })
  const events: RunEvent[] = []
  let meddled: unknown
  run.on((event) => {
    events.push(event)
    if (event.type === 'context:handoff:start') meddled = atStart(event)
  })
  const summary = await run.finish()
  await meddled
  return { summary, events }
}

describe('an error while a session is handed on', () => {
  it('fails the run, the session and the handoff, and says so', async () => {
    const broken = meddledStore(store, (unit) => {
      if (keeps(unit, 'handoff.completed')) throw new Error('A bug of the driver')
    })
    const { summary, events } = await play(await createBatonpass({ store: broken }), restarting(), request)
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'A bug of the driver', sessions: 1, restarts: 0 })
    expect(types(events).slice(-3)).toEqual(['context:handoff:cancelled', 'session:end', 'run:end'])
    expect(await stored()).toMatchObject({ states: ['failed'], statuses: ['failed'] })
  })

  it('that came after it was kept ends the run as overtaken, and leaves the successor to recovery', async () => {
    const { unitOfWork } = store
    const commit: typeof unitOfWork.commit = async (unit) => {
      const committed = await unitOfWork.commit(unit)
      if (keeps(unit, 'handoff.completed')) throw new Error('A bug of the driver')
      return committed
    }
    const copy = meddledStore(store, () => undefined)
    const broken = await createBatonpass({ store: { ...copy, unitOfWork: { ...copy.unitOfWork, commit } } })
    const runtime = restarting()
    const { summary, events } = await play(broken, runtime, { ...request, leaseMs: 60 })
    expect(summary.outcome).toBe('superseded')
    expect(types(events).at(-1)).toBe('run:end')
    expect(await stored()).toMatchObject({ states: ['handed_off', 'active'], statuses: ['completed'] })
    await sleep(80)
    expect(await batonpass.recover({ runtimes: [runtime] })).toMatchObject([{ summary: { outcome: 'completed' } }])
    expect(runtime.launches.at(-1)?.prompt).toContain('Half.')
  })

  it('in the template of the checkpoint costs no more than the checkpoint', async () => {
    const template = (): string => {
      throw new Error('My bug')
    }
    const { summary } = await play(batonpass, restarting(), { template })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      {
        checkpoint: { outcome: 'failed', reason: 'My bug' },
        flags: ['minimal_continuation', 'checkpoint_failed', 'recap_from_record'],
      },
    ])
  })
})

describe('cancelled', () => {
  const COMMITS = 16

  it.each(Array.from({ length: COMMITS }, (_, index) => index + 1))(
    'at commit %i of a restart: what is left is legal, and a later run finishes the work once',
    async (nth) => {
      const controller = new AbortController()
      const cut = meddledStore(store, (_, number) => {
        if (number === nth) controller.abort(new Error('Enough'))
      })
      const runtime = restarting()
      const run = (await createBatonpass({ store: cut })).run({ runtime, ...request, signal: controller.signal })
      const seen: string[] = []
      run.on(({ type }) => seen.push(type))
      const { outcome } = await run.finish()
      expect(controller.signal.aborted).toBe(true)
      expect(seen.at(-1)).toBe('run:end')
      // Called off when the agent has come to rest, the work is done already.
      const isDone = nth >= COMMITS - 1
      expect(outcome).toBe(isDone ? 'completed' : 'cancelled')
      const left = nth === 1 ? { states: [], statuses: [] } : await stored()
      expect(left.statuses.filter((status) => status !== 'completed' && status !== 'cancelled')).toEqual([])
      expect(left.states.slice(0, -1).every((state) => state === 'handed_off')).toBe(true)
      if (nth > 1) expect(left.states.at(-1)).toBe(isDone ? 'completed' : 'paused')
      expect(await store.leases.listExpired({})).toMatchObject({ items: [] })
      if (isDone) return
      const again = await play(batonpass, runtime, request)
      expect(again.summary.outcome).toBe('completed')
      const { states } = await stored()
      expect(states.filter((state) => state === 'completed')).toHaveLength(1)
      expect(await batonpass.audit.verify(again.summary.conversationId)).toMatchObject({ value: { intact: true } })
    },
  )

  it('while its conversation is opened, it launches nothing', async () => {
    const controller = new AbortController()
    const runtime = script([{ turns: ENDS }])
    const run = batonpass.run({ runtime, ...request, signal: controller.signal })
    const finished = run.finish()
    controller.abort(new Error('Enough'))
    expect(await finished).toMatchObject({ outcome: 'cancelled', sessions: 0 })
    expect(runtime.launches).toEqual([])
    expect(await stored()).toMatchObject({ states: [] })
  })

  it('while its agent does not answer the question for a checkpoint, it leaves nothing open', async () => {
    const inner = restarting()
    const mute: AgentRuntime = {
      backend: inner.backend,
      takesSessionId: true,
      start: (launch) => inner.start(launch),
      ask: () => new Promise<never>(() => undefined),
    }
    const controller = new AbortController()
    const { summary } = await meddle(mute, () => setTimeout(() => controller.abort(), 10), {
      signal: controller.signal,
    })
    expect(summary.outcome).toBe('cancelled')
    expect(await stored()).toMatchObject({ states: ['paused'], statuses: ['cancelled'] })
  })

  it('takes its listener away from the signal, also when the store breaks at the beginning', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    vi.spyOn(store.sessions, 'listForConversation').mockRejectedValueOnce(new Error('Away'))
    const budget = { maxRestarts: 1, whenExhausted: 'stop', deadlineMs: 60_000 } as const
    const { summary } = await play(batonpass, script([{ turns: ENDS }]), { signal, budget })
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'Away' })
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(added.mock.calls.map(([, listener]) => listener))
    expect(added).toHaveBeenCalledOnce()
  })
})

describe('a runtime that does not stop', () => {
  const GIVEN_UP_MS = 5_000
  const said: RuntimeStep<string> = { message: 'said', events: [], texts: [] }
  const never = new Promise<never>(() => undefined)

  const agentOf = (steps: () => RunningAgent<string>['steps']): AgentRuntime<string> => ({
    backend: 'stubborn',
    takesSessionId: false,
    start: () => ({ steps: steps(), interrupt: async () => undefined }),
  })

  const deaf = agentOf(async function* () {
    yield said
    await never
  })
  const chatty = agentOf(async function* () {
    for (;;) {
      yield said
      await sleep(100)
    }
  })
  const clinging = agentOf(async function* () {
    try {
      yield said
      yield said
    } finally {
      await never
    }
  })

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

  it.each([
    ['says nothing more', deaf, 0],
    ['says nothing more, with a slow reader', deaf, GIVEN_UP_MS + 500],
    ['goes on talking', chatty, 0],
  ])('and %s is given up a while after the run was cancelled', async (_, runtime, readMs) => {
    const controller = new AbortController()
    const run = batonpass.run({ runtime, ...request, signal: controller.signal })
    const loop = (async () => {
      for await (const _ of run) {
        controller.abort(new Error('Enough'))
        if (readMs > 0) await sleep(readMs)
      }
    })()
    await vi.advanceTimersByTimeAsync(GIVEN_UP_MS + readMs + 1_000)
    await loop
    expect(await run.summary).toMatchObject({ outcome: 'cancelled' })
    expect(await stored()).toMatchObject({ states: ['paused'] })
  })

  it('and holds on to its steps is given up when the loop is left', async () => {
    const run = batonpass.run({ runtime: clinging, ...request })
    const loop = (async () => {
      for await (const _ of run) break
    })()
    await vi.advanceTimersByTimeAsync(GIVEN_UP_MS + 1_000)
    await loop
    expect(await run.summary).toMatchObject({ outcome: 'cancelled' })
    expect(await stored()).toMatchObject({ states: ['paused'] })
  })
})

describe('leaving early', () => {
  it('tells the agent by its signal, and pauses the session', async () => {
    let given: AbortSignal | undefined
    const runtime = functionRuntime<string>({
      backend: 'endless',
      start: async function* ({ signal }) {
        given = signal
        for (;;) {
          yield 'said'
          await sleep(1)
        }
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }] }),
    })
    const run = batonpass.run({ runtime, ...request })
    for await (const _ of run) break
    expect(given?.aborted).toBe(true)
    const summary = await run.summary
    expect(summary.outcome).toBe('cancelled')
    expect(await stored()).toMatchObject({ states: ['paused'] })
    expect(await spoken(store, summary)).toContain('assistant: said')
  })

  it('does not cancel what was handed to another agent meanwhile', async () => {
    const runtime = script([{ turns: [turn(100, 'a'), turn(200, 'b'), turn(300)] }])
    const run = batonpass.run({ runtime, ...request })
    let messages = 0
    for await (const _ of run) {
      messages += 1
      if (messages < 4) continue
      const [session] = (await stored()).sessions
      const wanted = { targetAgent: 'reviewer', reason: 'Please review' }
      if (session) unwrap(await batonpass.handoffs.initiateHandoff({ session: session.id, byHand: true, ...wanted }))
      break
    }
    const { handoffs } = await recorded(batonpass, await run.summary)
    expect(handoffs).toMatchObject([{ kind: 'agent_transfer', status: 'initiated', targetAgent: 'reviewer' }])
    expect(await stored()).toMatchObject({ states: ['paused'], sessions: [{ heldBy: handoffs[0]?.id }] })
  })

  it('lets one of two that resume it work, and refuses the other', async () => {
    const runtime = script([{ turns: [turn(100, 'a'), turn(200, 'b'), turn(300)] }])
    for await (const _ of batonpass.run({ runtime, ...request })) break
    const both = await Promise.allSettled([1, 2].map(() => play(batonpass, runtime, request)))
    const outcomes = both.map((one) => (one.status === 'fulfilled' ? one.value.summary.outcome : one.reason.code))
    expect(outcomes.sort()).toEqual(['completed', 'session.illegal_transition'])
    expect(await stored()).toMatchObject({ states: ['completed'] })
  })
})

describe('whoever watches and whoever is asked', () => {
  it('cannot break the process with a listener that rejects', async () => {
    const unhandled: unknown[] = []
    const keep = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', keep)
    onTestFinished(() => void process.off('unhandledRejection', keep))
    const run = batonpass.run({ runtime: script([{ turns: ENDS }]), ...request })
    run.on(async () => {
      throw new Error('Mine')
    })
    expect(await run.finish()).toMatchObject({ outcome: 'completed' })
    await sleep(10)
    expect(unhandled).toEqual([])
  })

  it('is told of the error and of the end when a hook fails before there is a session', async () => {
    const told: unknown[] = []
    const no = (): never => {
      throw new Error('No licence')
    }
    const hooks = [
      functionHook('on_session_start', no, { shouldContinueOnError: false }),
      functionHook('on_error', (payload) => void told.push(payload)),
      functionHook('after_run', (payload) => void told.push(payload)),
    ]
    const { summary } = await play(batonpass, script([{ turns: ENDS }]), { ...request, hooks })
    expect(summary).toMatchObject({ outcome: 'failed', sessions: 0, reason: expect.stringContaining('No licence') })
    expect(told).toMatchObject([
      { hook_event_name: 'failed', error: { code: 'run.failed', message: expect.stringContaining('No licence') } },
      { hook_event_name: 'failed', run: { error: expect.stringContaining('No licence') } },
    ])
    expect(await stored()).toMatchObject({ states: [] })
  })
})

describe('out of', () => {
  it('restarts, it is exhausted, though a tool still runs for longer than a heartbeat', async () => {
    const told: unknown[] = []
    const runtime = script([{ turns: [turn(100, 'a'), turn(900, 'one', 'two'), turn(910)] }], {
      onStep: ({ texts }) => (texts[0]?.role === 'tool' ? sleep(50) : undefined),
    })
    const budget = { maxRestarts: 0, whenExhausted: 'stop' } as const
    const hooks = [functionHook('on_error', (payload) => void told.push(payload))]
    const { summary, messages } = await play(batonpass, runtime, { ...request, budget, hooks, leaseMs: 60 })
    expect(summary).toMatchObject({ outcome: 'exhausted', turns: 2 })
    expect(messages).toHaveLength(5)
    expect(told).toMatchObject([{ error: { code: 'run.exhausted' } }])
    expect(await stored()).toMatchObject({ states: ['failed'], statuses: [] })
  })

  it('restarts, a window that overflows fails where the budget says to carry on', async () => {
    const windows = [{ turns: [turn(100, 'a')], end: { type: 'overflow', message: 'Too long' } as const }]
    const budget = { maxRestarts: 0, whenExhausted: 'carry_on' } as const
    const { summary, events } = await play(batonpass, script(windows), { ...request, budget })
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'Too long', restarts: 0 })
    expect(types(events)).toContain('context:restart:refused')
  })

  it('time, what was said by then is recorded', async () => {
    const runtime = script([{ turns: [turn(100, 'a'), turn(200)] }], {
      onStep: ({ texts }) => (texts[0]?.role === 'tool' ? sleep(80) : undefined),
    })
    const budget = { maxRestarts: 3, whenExhausted: 'stop', deadlineMs: 40 } as const
    const { summary } = await play(batonpass, runtime, { ...request, budget })
    expect(summary).toMatchObject({ outcome: 'timed_out', turns: 1 })
    expect(await spoken(store, summary)).toContain('assistant: At 100.')
    expect(await stored()).toMatchObject({ states: ['failed'] })
  })

  it('time before it began, it launches nothing', async () => {
    const runtime = script([{ turns: ENDS }])
    const budget = { maxRestarts: 1, whenExhausted: 'stop', deadlineMs: 40 } as const
    await play(batonpass, runtime, { ...request, budget })
    await sleep(50)
    const { summary, events } = await play(batonpass, runtime, { ...request, budget })
    expect(summary).toMatchObject({ outcome: 'timed_out', sessions: 0, turns: 0 })
    expect(types(events)).toEqual(['run:end'])
    expect(runtime.launches).toHaveLength(1)
    expect((await stored()).states).toHaveLength(1)
  })
})

describe('when somebody else', () => {
  const claim = (claimMs: number) =>
    batonpass.handoffs.claimNext({ targetAgent: 'claude', claimant: 'worker', claimMs }).then(unwrap)

  it('has claimed the restart and lets the claim lapse, the run waits and carries it out', async () => {
    let claimed: unknown
    const { summary } = await meddle(restarting(30), async () => {
      claimed = (await claim(150)).handoff
    })
    expect(claimed).toMatchObject({ status: 'accepted', claim: { claimant: 'worker' } })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(await stored()).toMatchObject({ states: ['handed_off', 'completed'], statuses: ['completed'] })
  })

  it('has claimed the restart and completes it, the run is superseded and leaves the successor alone', async () => {
    const runtime = restarting(30)
    const { summary, events } = await meddle(runtime, async () => {
      const { handoff } = await claim(60_000)
      if (handoff === undefined) throw new Error('There was nothing to claim')
      unwrap(await batonpass.handoffs.completeHandoff({ handoff, claimant: 'worker', backend: 'theirs' }))
    })
    expect(summary).toMatchObject({ outcome: 'superseded', restarts: 0 })
    expect(types(events).slice(-2)).toEqual(['session:replaced', 'run:end'])
    expect(runtime.launches).toHaveLength(1)
    expect(await stored()).toMatchObject({ states: ['handed_off', 'active'], statuses: ['completed'] })
  })

  it('has called the restart off, the run stops there, and what it leaves is for recovery', async () => {
    const runtime = script([{ turns: [...FILLS, turn(910)], checkpoint: 'Half.', checkpointMs: 30 }, { turns: ENDS }])
    const cancel = ({ handoffId: handoff }: Start) =>
      batonpass.handoffs.cancelHandoff({ handoff, reason: 'Not now' }).then(unwrap)
    const { summary } = await meddle(runtime, cancel, { leaseMs: 90 })
    expect(summary).toMatchObject({ outcome: 'superseded', restarts: 0 })
    expect(await stored()).toMatchObject({ states: ['active'], statuses: ['cancelled'] })
    await sleep(100)
    expect(await batonpass.recover({ runtimes: [runtime] })).toMatchObject([{ summary: { outcome: 'completed' } }])
  })

  it('has kept a checkpoint first, that one counts', async () => {
    const runtime = restarting(30)
    const tokens = new Map<string, HolderToken>()
    const overheard = meddledStore(store, ({ changes }) => {
      for (const change of changes)
        if (change.type === 'move_session' && change.expected.token !== undefined)
          tokens.set(change.working.session.id, change.expected.token)
    })
    batonpass = await createBatonpass({ store: overheard })
    const { summary } = await meddle(runtime, async ({ handoffId: handoff, oldSessionId: sessionId }) => {
      // Only who knows the run's own token can, and no store has it: it is overheard when the run shows it.
      const holder = tokens.get(sessionId)
      if (holder === undefined) throw new Error('The run has shown no token')
      const theirs = { document: 'Theirs.', checkpoint: { outcome: 'kept' as const } }
      unwrap(await batonpass.handoffs.keepCheckpoint({ handoff, holder, ...theirs }))
    })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ document: 'Theirs.' }])
    expect(runtime.launches[1]?.prompt).toContain('Theirs.')
  })

  it('has taken the session over, cancelling the run does not touch the handoff', async () => {
    const controller = new AbortController()
    const take = async ({ oldSessionId }: Start): Promise<void> => {
      unwrap(await batonpass.handoffs.takeOverSession({ session: oldSessionId, leaseMs: 60_000 }))
      controller.abort()
    }
    const { summary, events } = await meddle(restarting(60_000), take, { signal: controller.signal })
    expect(summary.outcome).toBe('superseded')
    expect(types(events)).not.toContain('context:handoff:cancelled')
    expect(await stored()).toMatchObject({ states: ['paused'], statuses: ['initiated'] })
  })

  it('died with the restart claimed, a run that waits for that can be cancelled', async () => {
    const runtime = restarting()
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'handoff.accepted'), { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ runtime, ...request, leaseMs: 300 }).finish()
    await lost
    // The lease began before the claim did, so it is over first.
    await sleep(280)
    await vi.waitUntil(async () => (await store.leases.listExpired({})).items.length > 0, {
      interval: 2,
      timeout: 600_000,
    })
    const controller = new AbortController()
    const { summary } = await meddle(runtime, () => controller.abort(), { signal: controller.signal })
    expect(summary.outcome).toBe('cancelled')
    expect(runtime.launches).toHaveLength(1)
  })
})
