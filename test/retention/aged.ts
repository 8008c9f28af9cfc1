import { sql } from 'kysely'
import { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import type { CommandId } from '../../src/entry/ports.ts'
import type { StoreUnderTest } from '../../src/entry/testing.ts'

/** Lets commands be as old as they are on no test's clock. On a server only they grow old, in memory everything does. */
export const letAge = async (
  { store, passTime }: StoreUnderTest,
  commands: readonly CommandId[],
  milliseconds: number,
): Promise<void> => {
  if (!(store instanceof SqlStore)) return passTime(milliseconds)
  await store.database.kysely.transaction().execute(async (work) => {
    // Rows that only ever come and go refuse to be changed otherwise.
    await sql`set local session_replication_role = replica`.execute(work)
    await sql`update batonpass.commands set kept_at = kept_at - ${milliseconds}::bigint * interval '1 millisecond'
      where id = any (${sql.val([...commands])}::uuid[])`.execute(work)
  })
}
