import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open-postgres.ts'
import type { RunSummary } from '../../src/domain/run-summary.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Recovered } from '../../src/services/runner/recover.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { type Child, startChild } from '../embedded/child-process.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { bundleRunner } from './bundle-runner.ts'
import { RuntimeFolder } from './file-runtime.ts'
import { type Expectation, FinishedRun } from './finished-run.ts'
import { type Plan, POINT_NAMES, planFor } from './kill-point.ts'
import type { Order } from './runner-process.ts'

/** Every point once with every run; `npm run test:kill:runner` for the ten seeds that prove it. */
const SEEDS = Number(process.env.KILL_SEEDS ?? 1)
/** Short, so that what was killed is soon known to be gone. */
const KILLED_LEASE_MS = 400
/** Long, so that a slow machine does not look like a killed one. */
const LEASE_MS = 15_000
const AT_ONCE = 3
const MINUTES = 60_000

let store: Store
let path: string
let program: string
let connectionString: string
let folder: RuntimeFolder
const seen = { kills: 0, runs: 0, lost: 0, doubled: 0, launches: 0, relaunches: 0, lostRestarts: 0, beganAgain: 0 }
const begun = performance.now()

beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), 'batonpass-kill-'))
  folder = new RuntimeFolder(path)
  program = await bundleRunner(path)
  connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  store = await openPostgres({ connectionString })
})

afterAll(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(path, { recursive: true, force: true })
  const seconds = Math.round((performance.now() - begun) / 1_000)
  console.log(`${seen.kills} kills in ${seconds} s: ${JSON.stringify(seen)}`)
})

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const startRunner = (): Promise<Child> => startChild(program, [connectionString, path])
const order = (child: Child, what: Order): void => child.say(JSON.stringify(what))

const answer = async <T>(child: Child, what: Order): Promise<T> => {
  order(child, what)
  const answered = JSON.parse(await child.hear()) as T & { readonly broke?: string; readonly stack?: string }
  if (answered.broke !== undefined) throw new Error(`${answered.broke}\n${answered.stack}`)
  return answered
}

/** Does something for each, a few at the same time. */
const forEach = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Runs a plan in a process of its own, which dies where the plan says. */
const killAt = async (plan: Plan): Promise<void> => {
  folder.keepPlan(plan)
  const child = await startRunner()
  order(child, { do: 'run', key: plan.key, leaseMs: KILLED_LEASE_MS, signal: 'SIGKILL' })
  expect(await child.ended, `${plan.key}: ${child.heard().join()}`).toBe('SIGKILL')
  seen.kills += 1
}

const batonOf = async (plan: Plan) => {
  const conversation = await store.conversations.findByExternalKey(plan.key)
  return conversation && (await store.sessions.findBaton(conversation.id))
}

const expired = async (): Promise<readonly string[]> =>
  (await everyItem((page) => store.leases.listExpired(page))).map(({ sessionId }) => sessionId)

/** Waits until whoever was killed is known to be gone, by the database's clock. */
const untilAbandoned = async (plans: readonly Plan[]): Promise<void> => {
  const left = await Promise.all(plans.map(batonOf))
  const sessions = left.flatMap((session) => session?.id ?? [])
  const deadline = Date.now() + 20_000
  for (;;) {
    const gone = new Set(await expired())
    if (sessions.every((id) => gone.has(id))) return
    if (Date.now() > deadline) throw new Error('A session that was left behind has no lease that expires')
    await wait(50)
  }
}

/** What recovering will need beyond the plan, as the record stands. */
const expectationOf = async (plan: Plan): Promise<Expectation> => {
  const baton = await batonOf(plan)
  const isWorking = baton?.state === 'active'
  const turns = baton?.progress.turns ?? 0
  return { lostRestarts: Number(isWorking && turns > 0 && !plan.canResume), mayLaunchTwice: isWorking && turns === 0 }
}

const everythingOf = async (plans: readonly Plan[]): Promise<readonly unknown[]> =>
  Promise.all(
    plans.map(async ({ key }) => {
      const conversation = await store.conversations.findByExternalKey(key)
      return conversation && (await new ReadBack(store).everything(conversation.id))
    }),
  )

const said = (recovered: Recovered): string =>
  recovered.type === 'resumed' ? `resumed, ${recovered.summary.outcome}` : recovered.type

/** Recovers with so many processes at once: one finishes each run, the others are told that it is taken. */
const recoverWith = async (children: readonly Child[], plans: readonly Plan[]): Promise<void> => {
  const left = (await Promise.all(plans.map(batonOf))).flatMap((session) => session?.id ?? [])
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
  for (const { key } of plans) {
    const conversation = await store.conversations.findByExternalKey(key)
    if (conversation && (await store.sessions.findLatest(conversation.id))) continue
    const { outcome } = await answer<RunSummary>(child, { do: 'run', key, leaseMs: LEASE_MS })
    expect.soft(outcome, key).toBe('completed')
    seen.beganAgain += 1
  }
}

const lookAt = async (plan: Plan, expected: Expectation): Promise<void> => {
  const found = await new FinishedRun(store, folder, plan).look(expected)
  seen.runs += 1
  seen.lostRestarts += expected.lostRestarts
  for (const figure of ['lost', 'doubled', 'launches', 'relaunches'] as const) seen[figure] += found[figure]
}

describe('a runner killed at every step', () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)
  it.each(seeds)('seed %i: another process finishes every run, once', { timeout: 5 * MINUTES }, async (seed) => {
    const plans = POINT_NAMES.map((point) => planFor(point, seed))
    // With every other seed three recover at once.
    const recoverers = await Promise.all(Array.from({ length: seed % 2 === 1 ? 3 : 1 }, startRunner))
    await forEach(plans, killAt)
    await untilAbandoned(plans)
    const expected = await Promise.all(plans.map(expectationOf))
    await recoverWith(recoverers, plans)
    const [one] = recoverers
    if (one === undefined) throw new Error('Nobody recovers')
    await beginAgain(one, plans)
    for (const [index, plan] of plans.entries()) await lookAt(plan, expected[index] as Expectation)
    const before = await everythingOf(plans)
    expect(await answer(one, { do: 'recover', leaseMs: LEASE_MS })).toEqual([])
    expect(await everythingOf(plans)).toEqual(before)
    await Promise.all(recoverers.map((child) => child.kill()))
  })
})
