import type { HolderToken } from '../../src/index.ts'
import type { Store } from '../../src/ports.ts'
import { withParts, withUnitOfWork } from './wrap.ts'

/** Renews a lease for whoever asks, as an UPDATE that forgot the holder would. */
export const renewingForAnyone = (store: Store): Store => {
  const holders = new Map<string, HolderToken>()
  const watched = withUnitOfWork(store, {
    commit: async (unit) => {
      const kept = await store.unitOfWork.commit(unit)
      for (const change of unit.changes)
        if (change.type === 'set_lease' && kept.outcome === 'kept') holders.set(change.session.id, change.holder)
      return kept
    },
  })
  return withParts(watched, {
    leases: {
      ...store.leases,
      renew: (session, holder, leaseMs) => store.leases.renew(session, holders.get(session) ?? holder, leaseMs),
    },
  })
}
