import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isOpen } from '../../src/domain/handoff/handoff.ts'
import type { RunSummary } from '../../src/domain/run/run-summary.ts'
import type { Recovered } from '../../src/services/run/recover/recovery.ts'
import { ReadBack } from '../cases/read-back.ts'
import type { Child } from '../embedded/child-process.ts'
import { FinishedRun } from './finished-run.ts'
import { answer, forEach, heard, KillGround, LEASE_MS } from './kill-ground.ts'
import { type Plan, type PointName, planFor } from './kill-point.ts'

const MINUTES = 60_000
let ground: KillGround

beforeAll(async () => {
  ground = await KillGround.open()
})

afterAll(() => ground[Symbol.asyncDispose]())

/** A run that is stopped or killed at the first of these points, with a runtime that can go on. */
const planAt = (point: PointName, name: string): Plan => ({
  ...planFor(point, 1),
  key: `${name}-${point.replaceAll(/[^a-z]+/g, '-')}`,
  occurrence: 1,
  takesSessionId: true,
  canResume: true,
})

const WHILE_HELD: readonly PointName[] = [
  'the turn that crosses is recorded',
  'asked for the checkpoint',
  'before the checkpoint is kept',
  'the checkpoint is kept',
  'the handoff is claimed',
  'the continuation is kept',
  'before the handoff is completed',
]
const WHILE_ACTIVE: readonly PointName[] = [
  'the session is started',
  'launched, and nothing said yet',
  'the first turn is recorded',
  'before the turn that crosses',
  'the handoff is completed',
]

const NOTHING_EXTRA = { lostRestarts: 0, mayLaunchTwice: true }

describe('a runner that was only asleep', () => {
  it('writes nothing more when it wakes after another has finished its run', { timeout: 15 * MINUTES }, async () => {
    const plans = [...WHILE_ACTIVE, ...WHILE_HELD].map((point) => planAt(point, 'asleep'))
    const asleep: Child[] = []
    await forEach(plans, async (plan) => void asleep.push(await ground.stopAt(plan)))
    await using recoverer = await ground.startRunner()
    await ground.untilAbandoned(plans)
    await answer(recoverer, { do: 'recover', leaseMs: LEASE_MS })
    for (const plan of plans) await new FinishedRun(ground.store, ground.folder, plan).look(NOTHING_EXTRA)
    const before = await ground.everythingOf(plans)
    for (const child of asleep) process.kill(child.pid, 'SIGCONT')
    const outcomes = await Promise.all(asleep.map((child) => heard<RunSummary>(child)))
    expect.soft(outcomes.filter(({ outcome }) => outcome !== 'superseded')).toEqual([])
    expect(await ground.everythingOf(plans)).toEqual(before)
    await Promise.all(asleep.map((child) => child.kill()))
  })

  it('disturbs nobody when it wakes while another is at it', { timeout: 15 * MINUTES }, async () => {
    const plans = WHILE_HELD.map((point) => planAt(point, 'woken'))
    const asleep: Child[] = []
    await forEach(plans, async (plan) => void asleep.push(await ground.stopAt(plan)))
    await using recoverer = await ground.startRunner()
    await ground.untilAbandoned(plans)
    const recovering = answer<readonly Recovered[]>(recoverer, { do: 'recover', leaseMs: LEASE_MS, askMs: 1_500 })
    await ground.untilTakenOver(plans)
    for (const child of asleep) process.kill(child.pid, 'SIGCONT')
    const outcomes = await Promise.all(asleep.map((child) => heard<RunSummary>(child)))
    const recovered = await recovering
    expect.soft(outcomes.filter(({ outcome }) => outcome !== 'superseded')).toEqual([])
    expect
      .soft(recovered.map((one) => (one.type === 'resumed' ? one.summary.outcome : one.type)))
      .toEqual(plans.map(() => 'completed'))
    for (const plan of plans) await new FinishedRun(ground.store, ground.folder, plan).look(NOTHING_EXTRA)
    await Promise.all(asleep.map((child) => child.kill()))
  })
})

describe('a runner killed where nobody has its runtime', () => {
  it('is failed with the reason, once, and a later run continues', { timeout: 15 * MINUTES }, async () => {
    const plans = [...WHILE_ACTIVE, ...WHILE_HELD].map((point) => planAt(point, 'nobody'))
    await forEach(plans, (plan) => ground.killAt(plan))
    await using recoverer = await ground.startRunner()
    await ground.untilAbandoned(plans)
    const recovered = await answer<readonly Recovered[]>(recoverer, {
      do: 'recover',
      leaseMs: LEASE_MS,
      isWithout: true,
    })
    expect(recovered.map(({ type }) => type)).toEqual(plans.map(() => 'failed'))
    for (const plan of plans) await expectFailed(plan)
    const before = await ground.everythingOf(plans)
    expect(await answer(recoverer, { do: 'recover', leaseMs: LEASE_MS, isWithout: true })).toEqual([])
    expect(await ground.everythingOf(plans)).toEqual(before)
    for (const { key } of plans)
      expect
        .soft((await answer<RunSummary>(recoverer, { do: 'run', key, leaseMs: LEASE_MS })).outcome, key)
        .toBe('completed')
    for (const plan of plans) await expectGoneOn(plan)
  })
})

const keptOf = async ({ key }: Plan) => {
  const conversation = await ground.store.conversations.findByExternalKey(key)
  if (conversation === undefined) throw new Error(`There is no conversation "${key}"`)
  const kept = new ReadBack(ground.store)
  return { sessions: await kept.sessions(conversation.id), handoffs: await kept.handoffs(conversation.id) }
}

const expectFailed = async (plan: Plan): Promise<void> => {
  const { sessions, handoffs } = await keptOf(plan)
  const last = sessions.at(-1)
  expect.soft(last?.state, plan.key).toBe('failed')
  expect.soft(last?.state === 'failed' && last.endReason, plan.key).toMatch(/is gone, and nobody resumed it/)
  expect.soft(handoffs.filter(isOpen), plan.key).toEqual([])
  expect.soft(await ground.batonOf(plan), plan.key).toBeUndefined()
  if (WHILE_HELD.includes(plan.point)) expect.soft(handoffs.at(-1)?.status, plan.key).toBe('failed')
}

/** A new session goes on where the failed one was, and does not begin again. */
const expectGoneOn = async (plan: Plan): Promise<void> => {
  const { sessions, handoffs } = await keptOf(plan)
  const states = sessions.map(({ state }) => state)
  expect.soft(states.at(-1), plan.key).toBe('completed')
  expect.soft(states.filter((state) => state === 'failed').length, plan.key).toBe(1)
  expect.soft(handoffs.filter(isOpen), plan.key).toEqual([])
  expect.soft(new Set(sessions.map(({ epoch }) => epoch)).size, plan.key).toBe(sessions.length)
}
