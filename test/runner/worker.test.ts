import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, type HandoffMetadata, type RunEvent, unwrap } from '../../src/entry/index.ts'
import type { MemoryStore } from '../../src/entry/memory.ts'
import type { Unit } from '../../src/entry/ports.ts'
import type { Script } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { onMemory } from './on-memory.ts'
import { functionHook, recorded, runtimeOf, sleep, spoken, TASK, turn } from './played.ts'

let batonpass: Batonpass
let store: MemoryStore
onMemory((made) => {
  ;({ batonpass, store } = made)
})

const POLL = { least: 2, most: 10 }
const CODES: Script['windows'] = [{ turns: [turn(50, 'edit'), turn(60)], checkpoint: 'Coded.' }]

/** A run whose planner hands its work to somebody who takes no part. */
const leave = async (targetAgent: string, key = 'job'): Promise<HandoffMetadata> => {
  const handsOver = { to: targetAgent, reason: 'The plan stands.' }
  const planner = runtimeOf('thinks', [{ turns: [{ ...turn(100, 'plan'), handsOver }], checkpoint: 'Planned.' }])
  const summary = await batonpass
    .run({ agents: { planner }, start: 'planner', prompt: TASK, conversation: key })
    .finish()
  const [handoff] = (await recorded(batonpass, summary)).handoffs
  if (handoff === undefined) throw new Error('Nothing was handed over')
  return handoff
}

/** Works until nothing is open any more. */
const workOff = async (request: Parameters<Batonpass['work']>[0], worker = batonpass) => {
  const stop = new AbortController()
  const working = worker.work({ pollMs: POLL, signal: stop.signal, ...request })
  while ((await batonpass.history.openHandoffs()).items.length > 0) await sleep(5)
  stop.abort()
  return working
}

/** Whether so many handoffs were made that nobody stops them. */
const isLong = async (now: () => Promise<{ readonly handoffs: readonly unknown[] }>): Promise<boolean> =>
  (await now()).handoffs.length > 9

describe('a worker', () => {
  it('takes up what waits for its agent, with the task and the checkpoint, and runs it to the end', async () => {
    const { id, conversationId } = await leave('coder')
    const coder = runtimeOf('types', CODES)
    const summary = await workOff({ agents: { coder: { runtime: coder, model: 'small' } } })
    expect(summary).toEqual({ ended: { completed: 1 }, poisoned: 0 })
    const { sessions, handoffs } = await recorded(batonpass, { conversationId })
    expect(sessions.map(({ agentName, backend, model, state }) => [agentName, backend, model, state])).toEqual([
      ['planner', 'thinks', undefined, 'handed_off'],
      ['coder', 'types', 'small', 'completed'],
    ])
    expect(handoffs).toMatchObject([{ id, status: 'completed', targetSessionId: sessions[1]?.id }])
    for (const part of [TASK, 'Planned.', '"planner"', 'The plan stands.'])
      expect(coder.launches[0]?.prompt).toContain(part)
    expect(await spoken(store, { conversationId })).toContain('assistant: At 60.')
    expect(unwrap(await batonpass.audit.verify(conversationId)).intact).toBe(true)
  })

  it('hands on to another of its agents, and leaves what is for nobody here', async () => {
    const { conversationId } = await leave('coder')
    const coder = runtimeOf('types', [
      { turns: [{ ...turn(50, 'edit'), handsOver: { to: 'reviewer' } }], checkpoint: 'Coded.' },
    ])
    const reviewer = runtimeOf('reads', [
      { turns: [{ ...turn(50, 'look'), handsOver: { to: 'boss' } }], checkpoint: 'Seen.' },
    ])
    const stop = new AbortController()
    const working = batonpass.work({ agents: { coder, reviewer }, pollMs: POLL, signal: stop.signal })
    while ((await recorded(batonpass, { conversationId })).handoffs.at(-1)?.document !== 'Seen.') await sleep(5)
    stop.abort()
    expect(await working).toEqual({ ended: { handed_over: 1 }, poisoned: 0 })
    expect(
      (await recorded(batonpass, { conversationId })).handoffs.map(({ targetAgent, status }) => [targetAgent, status]),
    ).toEqual([
      ['coder', 'completed'],
      ['reviewer', 'completed'],
      ['boss', 'initiated'],
    ])
  })

  it('shares the work with others: each handoff is taken up once', async () => {
    const left: HandoffMetadata[] = []
    for (let number = 1; number <= 12; number += 1)
      left.push(await leave(number % 2 === 0 ? 'coder' : 'tester', `job-${number}`))
    const agents = () => ({ coder: runtimeOf('types', CODES), tester: runtimeOf('tests', CODES) })
    const workers = await Promise.all([1, 2, 3].map(() => createBatonpass({ store })))
    const summaries = await Promise.all(workers.map((one) => workOff({ agents: agents(), concurrency: 2 }, one)))
    const completed = summaries.reduce((sum, { ended }) => sum + (ended.completed ?? 0), 0)
    expect(completed).toBe(12)
    for (const { conversationId } of left) {
      const { sessions, handoffs } = await recorded(batonpass, { conversationId })
      expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
      expect(handoffs.map(({ status }) => status)).toEqual(['completed'])
    }
  })

  it('finishes what is under way when it is to stop, and takes up nothing more', async () => {
    await leave('coder', 'first')
    const later = new AbortController()
    const coder = runtimeOf('types', CODES, { onStep: () => later.abort() })
    await leave('coder', 'second')
    const summary = await batonpass.work({ agents: { coder }, pollMs: POLL, signal: later.signal })
    expect(summary.ended).toEqual({ completed: 1 })
    expect((await batonpass.history.openHandoffs()).items).toHaveLength(1)
  })

  it.each(['handoff.accepted', 'handoff.completed', 'turn.recorded'])(
    'that is lost after %s is replaced by another, once',
    async (entry) => {
      const { conversationId } = await leave('coder')
      const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === entry)
      const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
      const coder = runtimeOf('types', CODES)
      const doomed = await createBatonpass({ store: last })
      void doomed.work({ agents: { coder }, pollMs: POLL, run: { leaseMs: 1 } })
      await lost
      const stop = new AbortController()
      const working = batonpass.work({ agents: { coder }, pollMs: POLL, signal: stop.signal, run: { leaseMs: 50 } })
      const isDone = async () => (await recorded(batonpass, { conversationId })).sessions.at(-1)?.state === 'completed'
      while (!(await isDone())) await sleep(5)
      stop.abort()
      await working
      const { sessions, handoffs } = await recorded(batonpass, { conversationId })
      expect(sessions.map(({ agentName, state }) => [agentName, state])).toEqual([
        ['planner', 'handed_off'],
        ['coder', 'completed'],
      ])
      expect(handoffs.map(({ status }) => status)).toEqual(['completed'])
      expect((await spoken(store, { conversationId })).filter((line) => line === 'assistant: At 50.')).toHaveLength(1)
    },
  )

  it('leaves a run alone that restarts its agent slowly', async () => {
    const windows = [
      { turns: [turn(100, 'read'), turn(900, 'edit')], checkpoint: 'Full.', checkpointMs: 150 },
      { turns: [turn(50, 'edit'), turn(60)] },
    ]
    const mine = runtimeOf('types', windows)
    const other = runtimeOf('types', CODES)
    const stop = new AbortController()
    const working = batonpass.work({ agents: { coder: other }, pollMs: POLL, signal: stop.signal })
    const summary = await batonpass.run({ runtime: mine, agent: 'coder', prompt: TASK, policy: 'auto' }).finish()
    stop.abort()
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(await working).toEqual({ ended: {}, poisoned: 0 })
    expect(other.launches).toEqual([])
  })

  it('waits until the run that hands over has its checkpoint, and not for its lease', async () => {
    const coder = runtimeOf('types', CODES)
    const stop = new AbortController()
    const working = batonpass.work({ agents: { coder }, pollMs: POLL, signal: stop.signal })
    const turns = [{ ...turn(100, 'plan'), handsOver: { to: 'coder' } }]
    const planner = runtimeOf('thinks', [{ turns, checkpoint: 'Planned slowly.', checkpointMs: 150 }])
    const run = batonpass.run({ runtime: planner, agent: 'planner', prompt: TASK, leaseMs: 86_400_000 })
    const left = await run.finish()
    expect(left.outcome).toBe('handed_over')
    while ((await recorded(batonpass, left)).sessions.at(-1)?.state !== 'completed') await sleep(5)
    stop.abort()
    expect((await working).ended).toEqual({ completed: 1 })
    expect(coder.launches[0]?.prompt).toContain('Planned slowly.')
  })

  it('does not begin with an agent or a setting that no run could use', async () => {
    const { conversationId } = await leave('coder')
    const coder = runtimeOf('types', CODES)
    await expect(batonpass.work({ agents: { coder: {} as never } })).rejects.toThrow('"coder" needs a runtime')
    await expect(batonpass.work({ agents: { coder }, run: { maxTurns: 0 } })).rejects.toThrow('maxTurns')
    expect((await recorded(batonpass, { conversationId })).handoffs).toMatchObject([{ status: 'initiated' }])
  })

  it('does not count what it could not take up, and waits before it claims again', async () => {
    const first = await leave('coder', 'first')
    const second = await leave('coder', 'second')
    const stop = new AbortController()
    const fails = () => Promise.reject(new Error('Not today'))
    const refuses = functionHook('on_session_start', fails, { shouldContinueOnError: false })
    const coder = { runtime: runtimeOf('types', CODES), hooks: [refuses] }
    const onEvent = ({ type }: RunEvent): void => void (type === 'run:end' && setTimeout(() => stop.abort(), 50))
    const pollMs = { least: 1, most: 60_000 }
    const summary = await batonpass.work({ agents: { coder }, pollMs, signal: stop.signal, onEvent })
    expect(summary).toEqual({ ended: {}, poisoned: 0 })
    const statuses = [first, second].map(async ({ id }) => (await batonpass.history.handoff(id))?.status)
    expect(await Promise.all(statuses)).toEqual(['accepted', 'initiated'])
  })

  it('stops agents that only hand the work to each other, however many workers they have', async () => {
    const idle = (name: string): Script['windows'] => [
      { turns: [{ text: 'You do it.', promptTokens: 9, handsOver: { to: name, document: 'Yours.' } }] },
    ]
    const planner = runtimeOf('thinks', idle('coder'))
    const run = batonpass.run({ agents: { planner }, start: 'planner', prompt: TASK })
    const { conversationId } = await run.finish()
    const stop = new AbortController()
    const other = await createBatonpass({ store })
    const request = { pollMs: POLL, signal: stop.signal }
    const working = [
      batonpass.work({ ...request, agents: { planner } }),
      other.work({ ...request, agents: { coder: runtimeOf('types', idle('planner')) } }),
    ]
    const now = () => recorded(batonpass, { conversationId })
    while (!['failed', 'completed'].includes((await now()).sessions.at(-1)?.state ?? '') && !(await isLong(now)))
      await sleep(5)
    stop.abort()
    const [ours, theirs] = await Promise.all(working)
    const { handoffs, sessions } = await now()
    expect(handoffs.map(({ status }) => status)).toEqual([...Array<string>(6).fill('completed'), 'failed'])
    expect(handoffs.at(-1)).toMatchObject({ endReason: expect.stringContaining('neither does anything') as unknown })
    expect(sessions.at(-1)?.state).toBe('failed')
    expect((ours?.ended.exhausted ?? 0) + (theirs?.ended.exhausted ?? 0)).toBe(1)
  })

  it('resumes nothing more of what was lost once it is to stop', async () => {
    const lose = async (conversation: string): Promise<void> => {
      const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'turn.recorded')
      const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
      const doomed = await createBatonpass({ store: last })
      const about = { runtime: runtimeOf('types', CODES), agent: 'coder', prompt: TASK, conversation, leaseMs: 1 }
      void doomed.run(about).finish()
      await lost
    }
    await lose('first')
    await lose('second')
    await sleep(5)
    const stop = new AbortController()
    const coder = runtimeOf('types', CODES, { onStep: () => stop.abort() })
    const recovered = await batonpass.recover({ agents: { coder }, atOnce: 1, stop: stop.signal })
    expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed' } }])
  })

  it('leaves the budget of a conversation as it is', async () => {
    const { conversationId } = await leave('coder')
    const before = await batonpass.history.conversation(conversationId)
    const agents = new Map([['coder', { budget: { maxRestarts: 1 } }]])
    const worker = await createBatonpass({ store, agents })
    const summary = await workOff({ agents: { coder: runtimeOf('types', CODES) } }, worker)
    expect(summary.ended).toEqual({ completed: 1 })
    expect((await batonpass.history.conversation(conversationId))?.restartBudget).toEqual(before?.restartBudget)
  })

  it('listens to its signal no more with each handoff', async () => {
    for (let number = 1; number <= 6; number += 1) await leave('coder', `job-${number}`)
    const stop = new AbortController()
    const listening: number[] = []
    const onStep = () => void listening.push(getEventListeners(stop.signal, 'abort').length)
    const working = workOff({ agents: { coder: runtimeOf('types', CODES, { onStep }) }, signal: stop.signal })
    while ((await batonpass.history.openHandoffs()).items.length > 0) await sleep(5)
    stop.abort()
    await working
    expect(Math.max(...listening)).toBeLessThan(5)
  })

  it('uses the opening that a lost process had stored', async () => {
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.prepared')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const turns = [{ ...turn(100, 'plan'), handsOver: { to: 'coder' } }]
    const planner = runtimeOf('thinks', [{ turns, checkpoint: 'Planned.' }])
    const doomed = await createBatonpass({ store: last })
    const agents = { planner, coder: runtimeOf('types', CODES) }
    void doomed.run({ agents, start: 'planner', prompt: TASK, leaseMs: 1 }).finish()
    await lost
    const [open] = (await batonpass.history.openHandoffs()).items
    const prepared = open?.status === 'accepted' ? open.prepared : undefined
    const coder = runtimeOf('types', CODES)
    await workOff({ agents: { coder } })
    expect(await batonpass.history.handoff(open?.id as never)).toMatchObject({ targetSessionId: prepared?.sessionId })
    expect(coder.launches[0]?.prompt).toBe(prepared?.continuation)
  })

  it('asks the source of a lost run for its checkpoint first, where it works for both agents', async () => {
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.initiated')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const turns = [{ ...turn(100, 'plan'), handsOver: { to: 'coder' } }]
    const planner = runtimeOf('thinks', [{ turns, checkpoint: 'Planned.' }])
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ agents: { planner }, start: 'planner', prompt: TASK, leaseMs: 1 }).finish()
    await lost
    await sleep(5)
    const coder = runtimeOf('types', CODES)
    await workOff({ agents: { coder, planner }, run: { leaseMs: 50 } })
    expect(coder.launches).toHaveLength(1)
    expect(coder.launches[0]?.prompt).toContain('Planned.')
  })

  it('fails a handoff that was claimed again and again, and says why', async () => {
    const { id: handoff, conversationId } = await leave('coder')
    for (let claims = 1; claims <= 3; claims += 1) {
      unwrap(await batonpass.handoffs.acceptHandoff({ handoff, claimant: `lost ${claims}`, claimMs: 1 }))
      await sleep(5)
    }
    const coder = runtimeOf('types', CODES)
    const summary = await workOff({ agents: { coder }, maxClaims: 3 })
    expect(summary).toEqual({ ended: {}, poisoned: 1 })
    expect(coder.launches).toEqual([])
    expect((await recorded(batonpass, { conversationId })).handoffs).toMatchObject([
      { status: 'failed', endReason: expect.stringContaining('claimed 3 times') as unknown },
    ])
  })

  it('needs agents, and a number of handoffs at a time', async () => {
    const coder = runtimeOf('types', CODES)
    await expect(batonpass.work({ agents: {} })).rejects.toThrow('at least one agent')
    await expect(batonpass.work({ agents: { coder }, concurrency: 0 })).rejects.toThrow('from 1 up')
  })
})
