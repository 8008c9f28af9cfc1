import { describe, it } from 'vitest'
import { storeContract } from '../../src/testing/index.ts'
import { openStore, STORE_KINDS } from '../support/stores.ts'

describe.each(STORE_KINDS)('%s', (kind) => {
  storeContract(() => openStore(kind), { describe, it })
})
