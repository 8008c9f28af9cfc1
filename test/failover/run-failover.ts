import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres, type PostgresOptions } from '../../src/adapters/postgres/open/open-postgres.ts'
import { wait } from '../chaos/faults/fault.ts'
import { Progress } from '../chaos/progress.ts'
import { FleetCrew } from '../fleet/crew.ts'
import { feed } from '../fleet/feed.ts'
import { readFound } from '../fleet/found.ts'
import { type Job, jobsOf } from '../fleet/job.ts'
import { judge } from '../fleet/judge.ts'
import { check, finished, WORKER } from '../fleet/run-fleet.ts'
import { readSteps } from '../fleet/step.ts'
import { program } from '../support/bundle.ts'
import { onServer } from '../support/test-databases.ts'
import { Cluster } from './cluster.ts'
import type { FailoverOptions } from './options.ts'
import { outcomesOf, type Round, type RoundOutcome, reckon } from './outcome.ts'
import { type Heard, type Told, write } from './writer.ts'

/** The outcome of a run. */
export interface FailoverReport {
  readonly rounds: readonly RoundOutcome[]
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly handoffs: number
  readonly claims: number
  readonly takeovers: number
  readonly verified: number
  /** What writers and the feeder were told that was not worth trying again, with how often. */
  readonly told: Readonly<Record<string, number>>
  /** How many workers ended because the store was set back, which they must; others took their places. */
  readonly workersTold: number
  readonly problems: readonly string[]
}

const DATABASE = 'agents'
/** A failover is noticed within seconds here; every other wait is as in a program. */
const WAITS = { connectTimeoutMs: 5_000, statementTimeoutMs: 5_000, queryTimeoutMs: 6_000 }
const LEASE_MS = 3_000
/** How long the standby hears nothing before the primary is killed, when it is asynchronous. */
const CUT_MS = 400
/** After the last failover everything must be finished within this time. What was lost is waited for in vain. */
const REST_MS = { synchronous: 180_000, asynchronous: 30_000 }
const FEED_PAUSE_MS = 250

/** Lets everybody work through failovers, and judges what is left. */
export const runFailover = async (
  options: FailoverOptions,
  binaries: string,
  signal: AbortSignal,
): Promise<FailoverReport> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-failover-steps-'))
  await using cluster = await Cluster.start(options.replication, binaries)
  try {
    await onServer(cluster.primary.url(), `create database ${DATABASE}`)
    const address = cluster.addressOf(DATABASE)
    const store = { connectionString: address, ...WAITS, maxConnections: 2 }
    await using admin = await openPostgres({ ...store, autoMigrate: true })
    const orders = { store: { ...store, maxConnections: 4 }, folder, leaseMs: LEASE_MS, concurrency: 2 }
    const crew = new FleetCrew(await program(WORKER), orders, options.workers)
    await crew.ready()
    const heard: Heard = { acknowledged: [], told: [] }
    const calm = new AbortController()
    const writing = Promise.all(numbers(options.writers).map((writer) => write(writer, store, heard, calm.signal)))
    const fed: Job[] = []
    const feeding = keepFeeding(store, fed, heard.told, calm.signal)
    let isHeardAt = 0
    using _ = admin.wakeUps.listen({
      wake: () => {},
      tell: ({ isHeard }) => {
        isHeardAt = isHeard ? Date.now() : 0
      },
    })
    const rounds: Round[] = []
    using _progress = new Progress(
      () => `${rounds.length} of ${options.rounds} failovers  ${heard.acknowledged.length} turns  ${fed.length} jobs`,
    )
    while (rounds.length < options.rounds && !signal.aborted) {
      await wait(options.calmMs)
      await until(() => isHeardAt > 0)
      if (options.replication === 'asynchronous') {
        await cluster.cut()
        await wait(CUT_MS)
      }
      const killedAt = await cluster.failOver(options.gapMs)
      const promotedAt = Date.now()
      await until(() => numbers(options.writers).every((one) => hasWritten(heard, one, killedAt)))
      await until(() => isHeardAt > killedAt)
      rounds.push({ killedAt, promotedAt, wokenAt: isHeardAt })
      await cluster.addStandby()
    }
    await wait(options.calmMs)
    calm.abort()
    await Promise.all([writing, feeding])
    const url = cluster.primary.url(DATABASE)
    await finish(url, fed, REST_MS[options.replication])
    await crew.end()
    const found = await readFound(url)
    const recorded = found.answers.flatMap(({ text }) => (text.startsWith('Writer ') ? [text] : []))
    const reckoning = reckon(heard, recorded)
    const claims = found.events.flatMap((event) =>
      event.type === 'handoff.accepted' ? [Date.parse(event.claim.acceptedAt)] : [],
    )
    const verdict = judge(fed, found, readSteps(folder))
    const checked = await check(url)
    const isSafe = options.replication === 'synchronous'
    const isTold = (death: string): boolean => !isSafe && death.includes("code: 'store.set_back'")
    return {
      rounds: outcomesOf(rounds, heard, { lost: reckoning.lost, claims }),
      acknowledged: reckoning.acknowledged,
      lost: reckoning.lost.length,
      doubled: reckoning.doubled.length,
      handoffs: verdict.completed,
      claims: verdict.claims,
      takeovers: verdict.takeovers,
      verified: checked.verified,
      told: counted(heard.told),
      workersTold: crew.deaths.filter(isTold).length,
      problems: [
        ...reckoning.doubled.map((text) => `is there twice: ${text}`),
        ...checked.problems,
        ...crew.deaths.filter((death) => !isTold(death)),
        // A store that was set back has lost what nobody can bring back: that is counted, and no problem of the program.
        ...(isSafe ? reckoning.lost.map((text) => `was acknowledged, and is not there: ${text}`) : []),
        ...(isSafe ? [...verdict.lost, ...verdict.doubled, ...verdict.overlaps] : []),
        ...(isSafe ? heard.told.map(({ writer, code }) => `writer ${writer} was told ${code}`) : []),
      ],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

const hasWritten = ({ acknowledged }: Heard, writer: number, since: number): boolean =>
  acknowledged.some((one) => one.writer === writer && one.began > since)

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await wait(20)
}

/** Hands one job after the other to the workers. */
const keepFeeding = async (options: PostgresOptions, fed: Job[], told: Told[], signal: AbortSignal): Promise<void> => {
  await using store = await openPostgres(options)
  for (const job of jobsOf(100_000)) {
    if (signal.aborted) return
    try {
      await feed(store, [job], () => {})
      fed.push(job)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      told.push({ writer: 0, code, at: Date.now() })
    }
    await wait(FEED_PAUSE_MS)
  }
}

/** Waits until the workers have brought every job to its end. */
const finish = async (url: string, jobs: readonly Job[], restMs: number): Promise<void> => {
  for (const giveUp = Date.now() + restMs; Date.now() < giveUp; await wait(500)) {
    if ((await finished(url, jobs)) >= jobs.length) return
  }
}

const counted = (told: readonly Told[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { code } of told) counts[code] = (counts[code] ?? 0) + 1
  return counts
}
