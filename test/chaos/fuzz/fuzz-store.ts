import { openPglite } from '../../../src/adapters/postgres/embedded/open-pglite.ts'
import { openPostgres } from '../../../src/adapters/postgres/open/open-postgres.ts'
import { MemoryStore } from '../../../src/entry/memory.ts'
import { CountingIds, FixedClock } from '../../../src/entry/testing.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { sha256 } from '../../../src/ports/system/sha256.ts'
import { AuditService } from '../../../src/services/audit/audit-service.ts'
import { HandoffService } from '../../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../../src/services/history/handoff-history.ts'
import { ContextService } from '../../../src/services/window/context-service.ts'
import type { Services } from '../crew/moves.ts'
import type { ChaosOptions } from '../options.ts'

/** A store that requests are sent to. */
export interface FuzzStore {
  readonly name: string
  readonly store: Store
  readonly audit: AuditService
  /**
   * New services for an episode, whose clock and ids are the same on every store: once stores have answered differently,
   * they have also used up other ids.
   */
  servicesFor(episode: number): Services
}

/** More episodes than any run has, so that no two runs of ids meet. */
const EPISODES = 2 ** 16

const servicesOver = (store: Store, seed: number): Services => {
  const deps = { store, clock: new FixedClock(), ids: new CountingIds(seed) }
  return { handoffs: new HandoffService(deps), history: new HandoffHistory(deps), context: new ContextService(deps) }
}

const over = (name: string, store: Store, seed: number): FuzzStore => ({
  name,
  store,
  audit: new AuditService({ store, sha256 }),
  servicesFor: (episode) => servicesOver(store, (seed % 2 ** 31) * EPISODES + episode),
})

/** Planted: services that open a conversation for any task, such as a blank one or a number. */
const lenient = (store: FuzzStore): FuzzStore => ({
  ...store,
  servicesFor: (episode) => {
    const services = store.servicesFor(episode)
    const { handoffs } = services
    const open = handoffs.openConversation.bind(handoffs)
    handoffs.openConversation = (request) => open({ ...request, originalTask: `Task ${String(request.originalTask)}` })
    return services
  },
})

/** Opens one of each. */
export const openStores = async (
  url: string,
  dataDir: string,
  { seed, plant }: Pick<ChaosOptions, 'seed' | 'plant'>,
): Promise<readonly FuzzStore[]> => {
  const memory = over('memory', new MemoryStore({ clock: new FixedClock() }), seed)
  return [
    plant === 'lenient' ? lenient(memory) : memory,
    over('pglite', await openPglite({ dataDir }), seed),
    over('postgres', await openPostgres({ connectionString: url }), seed),
  ]
}
