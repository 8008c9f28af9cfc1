import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { AuditService } from '../../src/services/audit/audit-service.ts'
import { chanceFor } from '../chaos/chance.ts'
import { brokenInvariants } from '../chaos/check/invariants.ts'
import { TIMEOUTS, wait } from '../chaos/faults/fault.ts'
import { OwnServer } from '../chaos/faults/own-server.ts'
import { terminateAll } from '../chaos/faults/terminate.ts'
import { Progress } from '../chaos/progress.ts'
import { program } from '../support/bundle.ts'
import { onServer } from '../support/test-databases.ts'
import { FleetCrew } from './crew.ts'
import { disturb, type FleetFaults } from './faults.ts'
import { feed } from './feed.ts'
import { readFound } from './found.ts'
import { type Job, jobsOf } from './job.ts'
import { judge, type Verdict } from './judge.ts'
import type { FleetOptions } from './options.ts'
import { readSteps } from './step.ts'

/** The worker as a program. */
export const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** The outcome of a run: what was done, and everything that was wrong. */
export interface FleetReport extends FleetFaults, Omit<Verdict, 'lost' | 'doubled' | 'overlaps'> {
  readonly seed: number
  readonly workers: number
  readonly jobs: number
  readonly handoffs: number
  readonly seconds: number
  readonly kills: number
  readonly stops: number
  readonly lost: number
  readonly doubled: number
  readonly overlaps: number
  readonly verified: number
  readonly problems: readonly string[]
}

/** The share of the jobs that is done under faults. */
const DISTURBED = 0.99

/** After the last fault everything must be finished within this time. */
const REST_MS = 180_000

/** Lets a fleet work through its jobs under faults, and judges what is left. */
export const runFleet = async (options: FleetOptions, signal: AbortSignal): Promise<FleetReport> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-fleet-'))
  const { workers, concurrency, leaseMs, seed, handoffs } = options
  const jobs = jobsOf(handoffs)
  const faults: FleetFaults = { crashes: 0, restarts: 0 }
  await using server = await OwnServer.start()
  try {
    const url = await server.database('fleet')
    const store = { connectionString: url, ...TIMEOUTS, maxConnections: 4 }
    const crew = new FleetCrew(await program(WORKER), { store, folder, leaseMs, concurrency }, workers)
    await crew.ready()
    const began = Date.now()
    await work({ crew, server, chance: chanceFor(seed, 'fleet'), leaseMs, faults, url, jobs, options }, signal)
    const seconds = Math.round((Date.now() - began) / 1_000)
    await crew.end()
    const verdict = judge(jobs, await readFound(url), readSteps(folder))
    const { lost, doubled, overlaps, ...figures } = verdict
    const checked = await check(url)
    const problems = [...lost, ...doubled, ...overlaps, ...checked.problems, ...crew.deaths]
    const counts = { lost: lost.length, doubled: doubled.length, overlaps: overlaps.length }
    const { kills, stops } = crew
    const did = { seed, workers, jobs: jobs.length, handoffs, seconds, kills, stops, ...faults }
    return { ...did, ...figures, ...counts, verified: checked.verified, problems }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

type Work = Parameters<typeof disturb>[0] & {
  readonly url: string
  readonly jobs: readonly Job[]
  readonly options: FleetOptions
}

/** Feeds the fleet, disturbs it until everything is done or the time is over, and then lets it finish. */
const work = async ({ url, jobs, options, ...disturbed }: Work, signal: AbortSignal): Promise<void> => {
  const { crew, faults } = disturbed
  const calm = new AbortController()
  let [fed, done] = [0, 0]
  const began = Date.now()
  using _ = new Progress(
    () =>
      `${Math.round((Date.now() - began) / 1_000)} s  ${fed} of ${jobs.length} jobs handed over, ${done} done  ` +
      `${crew.kills} kills  ${crew.stops} stops  ${faults.crashes + faults.restarts} restarts`,
  )
  await using store = await openPostgres({ connectionString: url, ...TIMEOUTS })
  const feeding = feed(store, jobs, () => {
    fed += 1
  })
  const disturbing = options.isDisturbed ? disturb(disturbed, calm.signal) : Promise.resolve()
  const isOver = async (most: number, untilMs: number): Promise<void> => {
    while (done < most && Date.now() < untilMs && !signal.aborted) {
      done = await finished(url, jobs).catch(() => done)
      await wait(500)
    }
  }
  // A session that was lost again and again is let wait for longer than a worker lives here: the last ones need calm.
  await isOver(Math.floor(jobs.length * DISTURBED), began + options.seconds * 1_000)
  calm.abort()
  await disturbing
  await feeding
  await isOver(jobs.length, Date.now() + REST_MS)
}

/** How many jobs have come to their end. */
export const finished = async (url: string, jobs: readonly Job[]): Promise<number> => {
  const last = new Map(jobs.map(({ number, chain }) => [`job-${number}`, chain.at(-1)]))
  const ended = await onServer(
    url,
    `select c.external_key as key, agent_name as agent from batonpass.agent_sessions s
     join batonpass.conversations c on c.id = s.conversation_id where s.state = 'completed'`,
  )
  return ended.filter(({ key, agent }) => last.get(String(key)) === agent).length
}

/** Whether the store itself is sound: every invariant of chaos, and the log of every conversation. */
export const check = async (
  url: string,
): Promise<{ readonly verified: number; readonly problems: readonly string[] }> => {
  await terminateAll(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const problems = (await brokenInvariants(client)).map((what) => `does not hold: ${what}`)
  await client.end()
  await using store = await openPostgres({ connectionString: url, maxConnections: 4 })
  let verified = 0
  for await (const verdict of new AuditService({ store, sha256 }).verifyAll()) {
    verified += 1
    if (!verdict.intact) problems.push(`does not verify: ${verdict.conversationId}: ${verdict.problem.detail}`)
  }
  return { verified, problems }
}
