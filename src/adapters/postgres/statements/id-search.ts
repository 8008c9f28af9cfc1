import { sql } from 'kysely'
import { ID_LENGTH } from '../../../domain/kernel/id-ending.ts'
import { type IdKind, type IdSearch, NEWEST_IDS } from '../../../ports/store/id-search.ts'
import { type Database, guardedRead, qualified, withRetry } from './database.ts'

/** Each of these tables has an index that begins with the id. */
const TABLES = {
  conversation: 'conversations',
  session: 'agent_sessions',
  handoff: 'handoffs',
  turn: 'turns',
} as const satisfies Record<IdKind, string>

/** Ids by their end, from the newest end of an index. An index of endings would cost every write for what few people ask. */
export const idSearchIn = (database: Database): IdSearch => ({
  ending: (kind, ending, most) =>
    guardedRead(async () => {
      const table = qualified(database, TABLES[kind])
      const query =
        ending.length === ID_LENGTH
          ? sql<{ id: string }>`select row.id::text as id from ${table} as row where row.id = ${ending}::uuid limit 1`
          : sql<{ id: string }>`select distinct newest.id::text as id
              from (select row.id from ${table} as row order by row.id desc limit ${NEWEST_IDS}) as newest
              where right(newest.id::text, ${ending.length}) = ${ending} order by id desc limit ${most}`
      const { rows } = await withRetry(() => query.execute(database.kysely))
      return rows.map(({ id }) => id)
    }),
})
