import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunSummary } from '../../src/domain/run/run-summary.ts'
import type { Recovered } from '../../src/services/run/recover/recovery.ts'
import type { Child } from '../embedded/child-process.ts'
import { type Expectation, FinishedRun } from './finished-run.ts'
import { answer, forEach, KillGround, LEASE_MS } from './kill-ground.ts'
import { type Plan, POINT_NAMES, planFor } from './kill-point.ts'
import type { Order } from './runner-process.ts'

/** Every point once with every run; `npm run test:kill:runner` for the ten seeds that prove it. */
const SEEDS = Number(process.env.KILL_SEEDS ?? 1)
/** With this one alone a session is adopted, one is launched again under another name, and three recover at once. */
const THE_ONE_SEED = 7
const MINUTES = 60_000

/** What was seen over all kills. */
const seen = { kills: 0, runs: 0, lost: 0, doubled: 0, launches: 0, relaunches: 0, lostRestarts: 0, beganAgain: 0 }
const begun = performance.now()
let ground: KillGround

beforeAll(async () => {
  ground = await KillGround.open()
})

afterAll(async () => {
  await ground[Symbol.asyncDispose]()
  const seconds = Math.round((performance.now() - begun) / 1_000)
  console.log(`${seen.kills} kills in ${seconds} s: ${JSON.stringify(seen)}`)
})

/** What recovering will need beyond the plan, as the record stands. */
const expectationOf = async (plan: Plan): Promise<Expectation> => {
  const baton = await ground.batonOf(plan)
  const isWorking = baton?.state === 'active'
  const turns = baton?.progress.turns ?? 0
  return { lostRestarts: Number(isWorking && turns > 0 && !plan.canResume), mayLaunchTwice: isWorking && turns === 0 }
}

const said = (recovered: Recovered): string =>
  recovered.type === 'resumed' ? `resumed, ${recovered.summary.outcome}` : recovered.type

/** Recovers with so many processes at once: one finishes each run, the others are told that it is taken. */
const recoverWith = async (children: readonly Child[], plans: readonly Plan[]): Promise<void> => {
  const batons = await Promise.all(plans.map((plan) => ground.batonOf(plan)))
  const left = batons.flatMap((session) => session?.id ?? [])
  const recovering: Order = { do: 'recover', leaseMs: LEASE_MS }
  const answers = await Promise.all(children.map((child) => answer<readonly Recovered[]>(child, recovering)))
  const recovered = answers.flat()
  for (const id of left) {
    const all = recovered.filter(({ sessionId }) => sessionId === id).map(said)
    expect.soft(all.filter((one) => one !== 'taken')).toEqual(['resumed, completed'])
  }
  expect.soft(recovered.filter(({ sessionId }) => !left.includes(sessionId))).toEqual([])
}

/** What never got a session is nobody's to recover: whoever wants it done asks again. */
const beginAgain = async (child: Child, plans: readonly Plan[]): Promise<void> => {
  const { conversations, sessions } = ground.store
  for (const { key } of plans) {
    const conversation = await conversations.findByExternalKey(key)
    if (conversation && (await sessions.findLatest(conversation.id))) continue
    const { outcome } = await answer<RunSummary>(child, { do: 'run', key, leaseMs: LEASE_MS })
    expect.soft(outcome, key).toBe('completed')
    seen.beganAgain += 1
  }
}

const lookAt = async (plan: Plan, expected: Expectation): Promise<void> => {
  const found = await new FinishedRun(ground.store, ground.folder, plan).look(expected)
  seen.runs += 1
  seen.lostRestarts += expected.lostRestarts
  for (const figure of ['lost', 'doubled', 'launches', 'relaunches'] as const) seen[figure] += found[figure]
}

describe('a runner killed at every step', () => {
  const seeds = SEEDS === 1 ? [THE_ONE_SEED] : Array.from({ length: SEEDS }, (_, index) => index + 1)
  it.each(seeds)('seed %i: another process finishes every run, once', { timeout: 15 * MINUTES }, async (seed) => {
    const plans = POINT_NAMES.map((point) => planFor(point, seed))
    // With every other seed three recover at once.
    const recoverers = await Promise.all(Array.from({ length: seed % 2 === 1 ? 3 : 1 }, () => ground.startRunner()))
    await forEach(plans, (plan) => ground.killAt(plan))
    seen.kills += plans.length
    await ground.untilAbandoned(plans)
    const expected = await Promise.all(plans.map(expectationOf))
    await recoverWith(recoverers, plans)
    const [one] = recoverers
    if (one === undefined) throw new Error('Nobody recovers')
    await beginAgain(one, plans)
    for (const [index, plan] of plans.entries()) await lookAt(plan, expected[index] as Expectation)
    const before = await ground.everythingOf(plans)
    expect(await answer(one, { do: 'recover', leaseMs: LEASE_MS })).toEqual([])
    expect(await ground.everythingOf(plans)).toEqual(before)
    await Promise.all(recoverers.map((child) => child.kill()))
  })
})
