import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wait } from '../chaos/faults/fault.ts'
import { OwnServer } from '../chaos/faults/own-server.ts'
import { program } from '../support/bundle.ts'
import { onServer } from '../support/test-databases.ts'
import { FleetCrew } from './crew.ts'
import type { FleetOptions } from './options.ts'
import { WORKER } from './run-fleet.ts'

/** The cost of one worker that has nothing to do. */
export interface IdleCost {
  readonly waiting: 'woken' | 'looking'
  readonly agents: number
  readonly cpuSecondsPerMinute: number
  readonly queriesPerMinute: number
}

/** Long enough for a worker to have found out how it waits, and to look as seldom as it will. */
const SETTLED_MS = 60_000

/** Measures workers without work: those that the server wakes, and those that only look. */
export const measureIdle = async ({ workers }: FleetOptions, seconds: number): Promise<readonly IdleCost[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-fleet-'))
  await using server = await OwnServer.start()
  try {
    const costs: IdleCost[] = []
    for (const waiting of ['woken', 'looking'] as const) {
      const url = await server.database(`idle_${waiting}`)
      const store = { connectionString: url, maxConnections: 4, pooled: waiting === 'looking' }
      // The lease of every day: looking for lost work is a part of the cost.
      const orders = { store, folder, leaseMs: 30_000, concurrency: 1 }
      const crew = new FleetCrew(await program(WORKER), orders, workers)
      await crew.ready()
      await wait(SETTLED_MS)
      const before = await used(url, crew)
      await wait(seconds * 1_000)
      const after = await used(url, crew)
      await crew.end()
      const perMinute = (amount: number): number => Math.round((amount / workers / seconds) * 60 * 1_000) / 1_000
      costs.push({
        waiting,
        agents: 2,
        cpuSecondsPerMinute: perMinute(after.cpuSeconds - before.cpuSeconds),
        queriesPerMinute: perMinute(after.transactions - before.transactions - 1),
      })
    }
    return costs
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Clock ticks in a second, on every Linux there is. */
const TICKS = 100

/** The processor time of the crew so far, and how many statements its database has seen: each is a transaction of its own. */
const used = async (url: string, { pids }: FleetCrew) => {
  // Figures of a session are counted within a second of its last statement.
  await wait(1_500)
  const [row] = await onServer(
    url,
    'select xact_commit + xact_rollback as transactions from pg_stat_database where datname = current_database()',
  )
  const ticks = pids.map((pid) => {
    // The name stands in parentheses, and may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  return {
    cpuSeconds: ticks.reduce((sum, count) => sum + count, 0) / TICKS,
    transactions: Number(row?.transactions ?? 0),
  }
}
