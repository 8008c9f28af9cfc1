import { openPglite } from '../../../src/adapters/postgres/open-pglite.ts'
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts'
import { sha256 } from '../../../src/adapters/system/sha256.ts'
import { MemoryStore } from '../../../src/memory.ts'
import type { Store } from '../../../src/ports/store.ts'
import { AuditService } from '../../../src/services/audit-service.ts'
import { ContextService } from '../../../src/services/context-service.ts'
import { HandoffService } from '../../../src/services/handoff-service.ts'
import { CountingIds, FixedClock } from '../../../src/testing/index.ts'
import type { Services } from '../crew/moves.ts'
import type { ChaosOptions } from '../options.ts'

/** A store that requests are sent to, with clock and ids that are the same beside every other. */
export interface FuzzStore {
  readonly name: string
  readonly store: Store
  readonly services: Services
  readonly audit: AuditService
}

const over = (name: string, store: Store, seed: number): FuzzStore => {
  const deps = { store, clock: new FixedClock(), ids: new CountingIds(seed) }
  const services = { handoffs: new HandoffService(deps), context: new ContextService(deps) }
  return { name, store, services, audit: new AuditService({ store, sha256 }) }
}

const same = (store: FuzzStore): FuzzStore => store

/** Planted: a service that takes a reason of any kind. */
const lenient = ({ services, ...rest }: FuzzStore): FuzzStore => {
  const { handoffs } = services
  const cancel = handoffs.cancelHandoff.bind(handoffs)
  handoffs.cancelHandoff = (request) => cancel({ ...request, reason: String(request.reason) })
  return { services, ...rest }
}

/** Opens one of each. */
export const openStores = async (
  url: string,
  dataDir: string,
  { seed, plant }: Pick<ChaosOptions, 'seed' | 'plant'>,
): Promise<readonly FuzzStore[]> => [
  (plant === 'lenient' ? lenient : same)(over('memory', new MemoryStore({ clock: new FixedClock() }), seed)),
  over('pglite', await openPglite({ dataDir }), seed),
  over('postgres', await openPostgres({ connectionString: url }), seed),
]
