import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openPostgres, type PostgresOptions } from '../../../src/adapters/postgres/open/open-postgres.ts'
import { systemClock } from '../../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../../src/adapters/system/uuid-v7-ids.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { StoreFailure } from '../../../src/ports/store/store-failure.ts'
import { HandoffService } from '../../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../../src/services/history/handoff-history.ts'
import { ContextService } from '../../../src/services/window/context-service.ts'
import { chanceFor } from '../chance.ts'
import { Client, type Plant } from './client.ts'
import { Ledger } from './ledger.ts'
import { World } from './world.ts'

/** What a worker process is told when it is started. */
export interface WorkerOrders {
  readonly store: PostgresOptions
  /** Where its log goes. */
  readonly folder: string
  readonly name: string
  readonly seed: number
  readonly plant?: Plant
}

const TELL_EVERY_MS = 500

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

const work = async ({ store: options, folder, name, seed, plant }: WorkerOrders): Promise<void> => {
  using ledger = new Ledger(join(folder, `${name}.log`))
  const store = await opened(options)
  const deps = { store, clock: systemClock, ids: uuidV7Ids }
  const services = {
    handoffs: new HandoffService(deps),
    history: new HandoffHistory(deps),
    context: new ContextService(deps),
  }
  // A claimant is a worker's place in the crew, not a process: the next process there may carry on with its claims.
  const world = new World(services, { name: name.split('.')[0] ?? name, chance: chanceFor(seed, name) })
  const client = new Client(services, world, { ledger, ...(plant !== undefined && { plant }) })
  const telling = setInterval(() => process.send?.({ acknowledged: client.acknowledged }), TELL_EVERY_MS)
  process.send?.({ acknowledged: 0 })
  const stop = (): void => {
    client.isStopping = true
  }
  process.on('message', stop)
  process.on('disconnect', stop)
  // Whoever started the crew decides when it ends.
  process.on('SIGINT', () => {})
  while (!client.isStopping) await (plant === 'idle' ? pause(50) : client.step())
  clearInterval(telling)
  process.send?.({ acknowledged: client.acknowledged })
  await store[Symbol.asyncDispose]()
  process.disconnect?.()
}

const orders = process.env.CHAOS_ORDERS
if (orders !== undefined) await work(JSON.parse(orders) as WorkerOrders)
