import { openPostgres } from '../../../src/adapters/postgres/open/open-postgres.ts'
import { systemClock } from '../../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../../src/adapters/system/uuid-v7-ids.ts'
import { HandoffService } from '../../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../../src/services/history/handoff-history.ts'
import { ContextService } from '../../../src/services/window/context-service.ts'
import { chanceFor } from '../chance.ts'
import { Client } from '../crew/client.ts'
import { MOVE_NAMES } from '../crew/moves.ts'
import { World } from '../crew/world.ts'

/** So many acknowledged commands make a record in which every table has rows of every kind. */
const COMMANDS = 300
const MOST_STEPS = 30 * COMMANDS

/** Fills a database with what a few clients do who meet in the same conversations. */
export const makeRecord = async (url: string, seed: number, signal: AbortSignal): Promise<void> => {
  await using store = await openPostgres({ connectionString: url })
  const deps = { store, clock: systemClock, ids: uuidV7Ids }
  const services = {
    handoffs: new HandoffService(deps),
    history: new HandoffHistory(deps),
    context: new ContextService(deps),
  }
  const moves = new Set<string>()
  const ledger = {
    write: (line: { readonly is: string; readonly move: string }) => {
      if (line.is === 'ok') moves.add(line.move)
    },
  }
  const clients = ['worker-0', 'worker-1', 'worker-2'].map(
    (name) =>
      new Client(services, new World(services, { name, chance: chanceFor(seed, name), longerMs: 60_000 }), {
        ledger,
        patienceMs: 0,
      }),
  )
  const done = (): number => clients.reduce((total, { acknowledged }) => total + acknowledged, 0)
  for (let steps = 0; done() < COMMANDS || moves.size < MOVE_NAMES.length; steps += 1) {
    if (steps > MOST_STEPS)
      throw new Error(`The record lacks ${MOVE_NAMES.filter((name) => !moves.has(name)).join(', ')}`)
    signal.throwIfAborted()
    await clients[steps % clients.length]?.step()
  }
}
