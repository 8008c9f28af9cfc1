import { afterAll, describe, it } from 'vitest'
import { storeContract } from '../../src/entry/testing.ts'
import { closeStores, openStore, STORE_KINDS } from '../support/stores.ts'

/** Windows has no doors. */
const SHARED = process.platform === 'win32' ? [] : (['shared'] as const)

afterAll(closeStores)

describe.each([...STORE_KINDS, ...SHARED])('%s', (kind) => {
  storeContract(() => openStore(kind), { describe, it })
})
