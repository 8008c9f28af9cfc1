import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BOOKKEEPING, bytesPerTurn, sumOf } from '../../scripts/bytes-per-turn.ts'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'

describe('a turn with 1 KB of text', () => {
  it('takes less than 1.5 KB of log, salt and command', async () => {
    await using store = await openPglite({ loadDataDir: new Blob([readFileSync(process.env.TEST_PGLITE_DUMP ?? '')]) })
    const { text, stored } = sumOf(await bytesPerTurn(store, false), BOOKKEEPING)
    expect(text).toBeLessThan(1_500)
    expect(stored).toBeLessThan(1_300)
  })
})
