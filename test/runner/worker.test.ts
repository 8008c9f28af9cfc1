import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/container.ts'
import { type Batonpass, createBatonpass, type HandoffMetadata, unwrap } from '../../src/index.ts'
import { MemoryStore } from '../../src/memory.ts'
import type { Unit } from '../../src/ports.ts'
import type { Script, ScriptedRuntime } from '../../src/testing/index.ts'
import { lostProcess } from '../support/lost-process.ts'
import { recorded, script, sleep, spoken, TASK, turn } from './played.ts'

let batonpass: Batonpass
let store: MemoryStore
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})
afterEach(() => batonpass.close())

const POLL = { least: 2, most: 10 }
const runtimeOf = (backend: string, windows: Script['windows'], more: Partial<Script> = {}): ScriptedRuntime =>
  script(windows, { backend, ...more })
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
    expect(() => batonpass.work({ agents: {} })).toThrow('at least one agent')
    expect(() => batonpass.work({ agents: { coder }, concurrency: 0 })).toThrow('from 1 up')
  })
})
