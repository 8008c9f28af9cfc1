import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass, type HandoffMetadata, StoreFailure, unwrap } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Unit } from '../../src/entry/ports.ts'
import type { Script, ScriptedRuntime } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { functionHook, recorded, script, sleep, TASK, turn } from './played.ts'

let batonpass: Batonpass
let store: MemoryStore
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})
afterEach(() => batonpass.close())

const POLL = { least: 2, most: 10 }
const CODES: Script['windows'] = [{ turns: [turn(50, 'edit'), turn(60)], checkpoint: 'Coded.' }]
const runtimeOf = (windows = CODES, more: Partial<Script> = {}): ScriptedRuntime =>
  script(windows, { backend: 'types', ...more })

/** A run whose planner hands its work to a coder who takes no part. */
const leave = async (more: Partial<Parameters<Batonpass['run']>[0]> = {}): Promise<HandoffMetadata> => {
  const turns = [{ ...turn(100, 'plan'), handsOver: { to: 'coder', reason: 'The plan stands.' } }]
  const totals = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 1 }
  const planner = script([{ turns, checkpoint: 'Planned.', totals }], { backend: 'thinks' })
  const run = batonpass.run({ agents: { planner }, start: 'planner', prompt: TASK, ...more } as never)
  const [handoff] = (await recorded(batonpass, await run.finish())).handoffs
  if (handoff === undefined) throw new Error('Nothing was handed over')
  return handoff
}

/** An agent that is slow as soon as its worker is to stop, which it brings about. */
const hanging = (stop: AbortController): ScriptedRuntime =>
  runtimeOf(CODES, {
    onStep: async ({ message }) => {
      if (message?.text !== 'At 60.' || stop.signal.aborted) return
      stop.abort()
      await sleep(100)
    },
  })

const statesOf = async ({ conversationId }: HandoffMetadata): Promise<readonly string[]> =>
  (await recorded(batonpass, { conversationId })).sessions.map(({ state }) => state)

/** Works until the last session of a conversation has this state. */
const workUntil = async (handoff: HandoffMetadata, state: string, request: Parameters<Batonpass['work']>[0]) => {
  const stop = new AbortController()
  const working = batonpass.work({ pollMs: POLL, signal: stop.signal, ...request })
  while ((await statesOf(handoff)).at(-1) !== state) await sleep(5)
  stop.abort()
  return working
}

describe('a worker that is to stop', () => {
  it('hands back what it cannot finish in time, for another one to resume', async () => {
    const handoff = await leave()
    const stop = new AbortController()
    const hangs = hanging(stop)
    const run = { leaseMs: 60_000 }
    const request = { agents: { coder: hangs }, pollMs: POLL, signal: stop.signal, run, drainMs: 1 }
    expect((await batonpass.work(request)).ended).toEqual({ cancelled: 1 })
    expect(await statesOf(handoff)).toEqual(['handed_off', 'active'])
    const other = await workUntil(handoff, 'completed', { agents: { coder: hangs } })
    expect(other).toEqual({ ended: { completed: 1 }, poisoned: 0 })
    expect(await statesOf(handoff)).toEqual(['handed_off', 'completed'])
    expect(unwrap(await batonpass.audit.verify(handoff.conversationId)).intact).toBe(true)
  })

  it('pauses what is under way when it is cancelled', async () => {
    const handoff = await leave()
    const cancel = new AbortController()
    const coder = runtimeOf(CODES, {
      onStep: ({ message }) => (message?.text === 'At 60.' ? cancel.abort() : undefined),
    })
    const stop = new AbortController()
    const working = batonpass.work({ agents: { coder }, pollMs: POLL, signal: stop.signal, cancel: cancel.signal })
    // The planner is paused as well, while its handoff is open.
    while ((await statesOf(handoff))[1] !== 'paused') await sleep(5)
    stop.abort()
    expect((await working).ended).toEqual({ cancelled: 1 })
  })

  it('gives back what it has claimed and not taken up', async () => {
    const handoff = await leave()
    const stop = new AbortController()
    const starts = functionHook('on_session_start', async () => {
      stop.abort()
      await sleep(30)
      return ''
    })
    const coder = { runtime: runtimeOf(), hooks: [starts] }
    const run = { leaseMs: 60_000 }
    const summary = await batonpass.work({ agents: { coder }, pollMs: POLL, signal: stop.signal, run, drainMs: 1 })
    expect(summary).toEqual({ ended: {}, poisoned: 0 })
    await sleep(5)
    expect((await store.handoffs.listPendingFor('coder', {})).items).toMatchObject([{ id: handoff.id }])
    const other = await workUntil(handoff, 'completed', { agents: { coder: runtimeOf() }, maxClaims: 1 })
    expect(other).toEqual({ ended: { completed: 1 }, poisoned: 0 })
  })
})

describe('a worker that resumes', () => {
  it('ends when all it has resumed has ended, though more is left to resume', async () => {
    for (let lost = 0; lost < 3; lost += 1) {
      const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: TASK }))
      const about = { conversationId: conversation.id, agentName: 'coder', backend: 'types', leaseMs: 1 }
      unwrap(await batonpass.handoffs.startSession(about))
    }
    await sleep(5)
    const stop = new AbortController()
    let begun = 0
    const coder = runtimeOf(CODES, {
      onStep: async () => {
        begun += 1
        const isSlow = begun === 1
        while (begun < 2) await sleep(1)
        stop.abort()
        await sleep(isSlow ? 150 : 10)
      },
    })
    const ends: string[] = []
    const summary = await batonpass.work({
      agents: { coder },
      pollMs: POLL,
      signal: stop.signal,
      drainMs: 1,
      concurrency: 2,
      onEvent: ({ type }) => (type === 'run:end' ? ends.push(type) : undefined),
    })
    expect(ends).toHaveLength(2)
    expect(summary.ended).toEqual({ cancelled: 2 })
  })

  it('resumes for an agent whose name was given with blanks around it', async () => {
    const handoff = await leave()
    const stop = new AbortController()
    await batonpass.work({ agents: { coder: hanging(stop) }, pollMs: POLL, signal: stop.signal, drainMs: 1 })
    expect(await statesOf(handoff)).toEqual(['handed_off', 'active'])
    const summary = await workUntil(handoff, 'completed', { agents: { ' coder ': runtimeOf() }, run: { leaseMs: 50 } })
    expect(summary.ended).toEqual({ completed: 1 })
  })
})

describe('a worker', () => {
  it('takes up nothing more once it is cancelled, though nobody told it to stop', async () => {
    const handoff = await leave()
    const summary = await batonpass.work({ agents: { coder: runtimeOf() }, pollMs: POLL, cancel: AbortSignal.abort() })
    expect(summary).toEqual({ ended: {}, poisoned: 0 })
    expect((await batonpass.history.handoff(handoff.id))?.version).toBe(handoff.version)
  })

  it('works though whoever is told how it waits throws', async () => {
    const handoff = await leave()
    const onWaiting = (): void => {
      throw new Error('The screen is gone.')
    }
    const summary = await workUntil(handoff, 'completed', { agents: { coder: runtimeOf() }, onWaiting })
    expect(summary.ended).toEqual({ completed: 1 })
  })

  it('takes no more than its places, whether it takes up or resumes', async () => {
    const lost = await leave({ conversation: 'lost' } as never)
    const stop = new AbortController()
    const first = { agents: { coder: hanging(stop) }, pollMs: POLL, signal: stop.signal, drainMs: 1 }
    await batonpass.work(first)
    const waiting = await Promise.all([1, 2].map((number) => leave({ conversation: `job-${number}` } as never)))
    let [now, most] = [0, 0]
    const coder = runtimeOf(CODES, {
      onStep: async ({ end }) => {
        if (end !== undefined) now -= 1
        else await sleep(2)
      },
    })
    const counting = { ...coder, backend: 'types', takesSessionId: true }
    const start = (launch: Parameters<typeof coder.start>[0]) => {
      now += 1
      most = Math.max(most, now)
      return coder.start(launch)
    }
    const over = new AbortController()
    const working = batonpass.work({ agents: { coder: { ...counting, start } }, pollMs: POLL, signal: over.signal })
    for (const handoff of [lost, ...waiting]) while ((await statesOf(handoff)).at(-1) !== 'completed') await sleep(5)
    over.abort()
    expect((await working).ended).toEqual({ completed: 3 })
    expect(most).toBe(1)
  })

  it('resumes a session that the store was away for, and does not fail it', async () => {
    const handoff = await leave()
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.completed')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    void doomed.work({ agents: { coder: runtimeOf() }, pollMs: POLL, run: { leaseMs: 1 } })
    await lost
    const away = new StoreFailure('store.unavailable', 'Away')
    const find = vi.spyOn(store.messages, 'findOpening').mockRejectedValueOnce(away)
    const stop = new AbortController()
    const agents = { coder: runtimeOf() }
    const working = batonpass.work({ agents, pollMs: POLL, signal: stop.signal, run: { leaseMs: 50 } })
    while (!['completed', 'failed'].includes((await statesOf(handoff)).at(-1) ?? '')) await sleep(5)
    stop.abort()
    expect((await working).ended).toEqual({ failed: 1, completed: 1 })
    expect(await statesOf(handoff)).toEqual(['handed_off', 'completed'])
    expect(find).toHaveBeenCalled()
  })

  it('fails what has no money left at once, and says why', async () => {
    const handoff = await leave({ budget: { maxCostUsd: 0.5 } } as never)
    const coder = runtimeOf()
    const stop = new AbortController()
    const working = batonpass.work({ agents: { coder }, pollMs: POLL, signal: stop.signal })
    while ((await batonpass.history.handoff(handoff.id))?.status !== 'failed') await sleep(5)
    stop.abort()
    expect(await working).toEqual({ ended: { exhausted: 1 }, poisoned: 0 })
    expect(await statesOf(handoff)).toEqual(['paused'])
    expect(await batonpass.history.handoff(handoff.id)).toMatchObject({
      status: 'failed',
      endReason: expect.stringContaining('0.5 dollars') as unknown,
    })
    expect(coder.launches).toEqual([])
  })

  it('fails what has no time left at once', async () => {
    const handoff = await leave({ budget: { deadlineMs: 150 } } as never)
    await sleep(200)
    const coder = runtimeOf()
    const summary = await workUntil(handoff, 'failed', { agents: { coder: { runtime: coder } } })
    expect(summary).toEqual({ ended: { timed_out: 1 }, poisoned: 0 })
    expect((await batonpass.history.handoff(handoff.id))?.status).toBe('failed')
    expect(coder.launches).toEqual([])
  })

  it('fails the source of a handoff that kills workers, so that nobody resumes it and tries again', async () => {
    const handoff = await leave()
    for (let claims = 1; claims <= 2; claims += 1) {
      unwrap(await batonpass.handoffs.acceptHandoff({ handoff: handoff.id, claimant: `lost ${claims}`, claimMs: 1 }))
      await sleep(5)
    }
    const summary = await workUntil(handoff, 'failed', { agents: { coder: runtimeOf() }, maxClaims: 2 })
    expect(summary).toEqual({ ended: {}, poisoned: 1 })
    expect(await statesOf(handoff)).toEqual(['failed'])
    expect((await batonpass.history.handoff(handoff.id))?.status).toBe('failed')
  })

  it('counts claims, and nothing else that happens to a handoff', async () => {
    const { id: handoff, ...left } = await leave()
    const claimant = 'slow'
    unwrap(await batonpass.handoffs.acceptHandoff({ handoff, claimant, claimMs: 1_000 }))
    for (let renewals = 1; renewals <= 4; renewals += 1)
      unwrap(await batonpass.handoffs.renewClaim({ handoff, claimant, claimMs: 5 }))
    await sleep(10)
    const summary = await workUntil({ ...left, id: handoff } as HandoffMetadata, 'completed', {
      agents: { coder: runtimeOf() },
      maxClaims: 2,
    })
    expect(summary).toEqual({ ended: { completed: 1 }, poisoned: 0 })
  })
})

describe('the waiting of a worker', () => {
  it('ends when something is handed over, however long it would be', async () => {
    const told: unknown[] = []
    const stop = new AbortController()
    const pollMs = { least: 3_600_000, most: 3_600_000 }
    const onWaiting = (waiting: unknown): void => void told.push(waiting)
    const working = batonpass.work({ agents: { coder: runtimeOf() }, signal: stop.signal, pollMs, onWaiting })
    await sleep(20)
    const planner = await batonpass.handoffs.openConversation({ originalTask: TASK })
    const about = { conversationId: unwrap(planner).conversation.id, agentName: 'planner', backend: 'thinks' }
    const started = unwrap(await batonpass.handoffs.startSession(about))
    const messages = [{ role: 'assistant' as const, text: 'Planned.' }]
    const { session } = unwrap(await batonpass.handoffs.recordTurn({ ...started, messages }))
    const to = { targetAgent: 'coder', reason: 'Planned', document: 'The plan.' }
    const { handoff } = unwrap(await batonpass.handoffs.initiateHandoff({ session, holder: started.holder, ...to }))
    while ((await statesOf(handoff)).at(-1) !== 'completed') await sleep(5)
    stop.abort()
    expect((await working).ended).toEqual({ completed: 1 })
    expect(told).toEqual([{ by: 'wake_ups', longestMs: 3_600_000 }])
  })

  it('says that it only looks where the store wakes nobody', async () => {
    const told: unknown[] = []
    const { wakeUps: _, ...deaf } = store
    const quiet = { ...deaf, [Symbol.asyncDispose]: async () => undefined }
    const stop = new AbortController()
    const other = await createBatonpass({ store: quiet })
    const onWaiting = (waiting: unknown): void => void told.push(waiting)
    const working = other.work({ agents: { coder: runtimeOf() }, signal: stop.signal, onWaiting })
    stop.abort()
    await working
    expect(told).toEqual([{ by: 'looking', longestMs: 5_000, reason: 'this store wakes nobody' }])
  })
})
