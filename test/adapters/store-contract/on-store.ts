import { afterAll, describe, it } from 'vitest'
import { storeContract } from '../../../src/entry/testing.ts'
import { closeStores, openStore, type StoreKind } from '../../support/stores.ts'

/** The whole contract on one store. Each has a file of its own, so that one waits for its clock while others work. */
export const contractOn = (kind: StoreKind): void => {
  afterAll(closeStores)
  describe(kind, () => storeContract(() => openStore(kind), { describe, it }))
}
