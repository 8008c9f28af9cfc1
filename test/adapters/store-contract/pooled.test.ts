import { describe, it } from 'vitest'
import { STORE_KINDS } from '../../support/stores.ts'
import { contractOn } from './on-store.ts'

if ((STORE_KINDS as readonly string[]).includes('pooled')) contractOn('pooled')
else describe.skip('pooled', () => it('has no PgBouncer', () => undefined))
