import type { Store } from '../../src/entry/ports.ts'
import { withParts } from './wrap.ts'

/** Renews a lease for whoever asks, as an UPDATE that forgot the holder would. */
export const renewingForAnyone = (store: Store): Store => {
  return withParts(store, {
    leases: {
      ...store.leases,
      renew: async (session, holder, leaseMs) => {
        await store.leases.renew(session, holder, leaseMs)
        return (await store.leases.find(session)) !== undefined
      },
    },
  })
}
