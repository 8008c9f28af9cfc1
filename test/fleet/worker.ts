import { setTimeout as pause } from 'node:timers/promises'
import { openPostgres, type PostgresOptions } from '../../src/adapters/postgres/open/open-postgres.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { agentsOf } from './job.ts'
import { fleetRuntime } from './runtime.ts'
import { StepLedger } from './step.ts'

/** The orders of a worker process. */
export interface FleetOrders {
  readonly store: PostgresOptions
  /** Where steps and sessions are written down. */
  readonly folder: string
  readonly place: number
  /** No other process has the same. */
  readonly name: string
  readonly leaseMs: number
  readonly concurrency: number
}

const opened = async (options: PostgresOptions): Promise<Store> => {
  for (;;) {
    try {
      return await openPostgres(options)
    } catch (failure) {
      if (!(failure instanceof StoreFailure && failure.retryable)) throw failure
      await pause(100)
    }
  }
}

/** Half of the workers know nothing of the processes of this machine, as if they were on others: leases must run out. */
const strangers = (place: number) => (place % 4 < 2 ? {} : { processes: { end: async () => 'elsewhere' as const } })

const work = async ({ store: options, folder, place, name, leaseMs, concurrency }: FleetOrders): Promise<void> => {
  const store = await opened(options)
  const workplace = { ledger: new StepLedger(folder, name), by: name, folder }
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  // Without whoever started it, nobody would end it.
  const leave = (): void => process.exit(1)
  process.on('disconnect', leave)
  const agents = Object.fromEntries(agentsOf(place).map((agent) => [agent, fleetRuntime(agent, workplace)]))
  const batonpass = await createBatonpass({ store, ...strangers(place) })
  const { signal } = stop
  process.send?.({ ready: true })
  // Here it is no handoff that kills its workers.
  const patience = { maxClaims: 1_000, drainMs: 20_000 }
  const summary = await batonpass.work({ agents, concurrency, signal, run: { leaseMs }, ...patience })
  await batonpass.close()
  await store[Symbol.asyncDispose]()
  workplace.ledger.close()
  process.send?.({ summary })
  process.off('disconnect', leave)
  process.disconnect?.()
}

const orders = process.env.FLEET_ORDERS
if (orders !== undefined) await work(JSON.parse(orders) as FleetOrders)
