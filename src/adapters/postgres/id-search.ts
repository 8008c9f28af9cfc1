import { sql } from 'kysely'
import type { IdKind, IdSearch } from '../../ports/id-search.ts'
import { type Database, named, reading, withRetry } from './database.ts'

/** Each of these tables has an index that begins with the id. */
const TABLES = {
  conversation: 'conversations',
  session: 'agent_sessions',
  handoff: 'handoffs',
  turn: 'turns',
} as const satisfies Record<IdKind, string>

/** Ids within a range, from an index. */
export const idSearchIn = (database: Database): IdSearch => ({
  within: (kind, { from, to }, most) =>
    reading(async () => {
      const query = sql<{ id: string }>`select row.id::text as id from ${named(database, TABLES[kind])} as row
        where row.id between ${from}::uuid and ${to}::uuid order by row.id limit ${most}`
      const { rows } = await withRetry(() => query.execute(database.kysely))
      // A table may hold an id once for each conversation: grouping them in SQL would read all rows of the range.
      return [...new Set(rows.map(({ id }) => id))]
    }),
})
