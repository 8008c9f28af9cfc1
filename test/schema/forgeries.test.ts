import { afterAll, describe, expect, it } from 'vitest'
import type { SqlStore } from '../../src/adapters/postgres/sql-store.ts'
import { ask } from '../migrations/empty-database.ts'
import { closeStores, openStore } from '../support/stores.ts'
import { type Column, COLUMNS, type Forgery, forgeries } from './forgeries.ts'
import { admitProgram, attemptAs, lawfulWorld } from './forgery-world.ts'

afterAll(closeStores)

const triedOn = async (store: SqlStore, { name, statements, unit }: Forgery): Promise<readonly string[]> => {
  const superuser = await attemptAs(store, 'superuser', statements)
  if (superuser === 'nothing to change') return []
  const program = await attemptAs(store, 'program', statements)
  const offered = unit === undefined ? '-' : await attemptAs(store, 'program', unit)
  return [[name, superuser, program, offered].join(' | ')]
}

describe.each(['postgres', 'pglite'] as const)('forged rows on %s', (kind) => {
  it('are refused, or accepted for a reason', async () => {
    const store = (await openStore(kind)).store as SqlStore
    const world = await lawfulWorld(store)
    await admitProgram(store)
    const columns = await ask<Column>(store.database, COLUMNS)
    const lines: string[] = []
    for (const forgery of forgeries(columns, world)) lines.push(...await triedOn(store, forgery))
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('forgeries.golden')
  }, 600_000)
})
