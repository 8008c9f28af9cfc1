import { sql } from 'kysely'
import { z } from 'zod'
import type { Changes } from '../../ports/audit-log.ts'
import { type Cursor, type Page, pageLimit } from '../../ports/page.ts'
import { entryRow, feedEntry } from './audit-entry-row.ts'
import { type Database, named, readDocuments, withRetry } from './database.ts'
import { fromCursor, type Key, toCursor } from './paging.ts'
import { reader } from './row-types.ts'

const toRow = reader(
  'audit entry',
  entryRow.extend({ transaction_id: z.string() }).transform((row) => ({
    key: [row.transaction_id, row.conversation_id, row.position] as const,
    entry: feedEntry(row),
  })),
)

/** Before every transaction, conversation and position. */
const BEGINNING: Key = ['0', '00000000-0000-0000-0000-000000000000', 0]

/**
 * One page of the feed: in the order of transactions, and only those before the oldest that still runs.
 *
 * Transactions that begin later have higher ids, so nothing can appear before a place the feed has passed.
 */
export const readChanges = async (database: Database, page: Page): Promise<Changes> => {
  const [transaction, conversation, position] = page.after === undefined ? BEGINNING : fromCursor(page.after, 3)
  const query = sql<{ json: string }>`
    select jsonb_build_object('transaction_id', e.transaction_id::text, 'conversation_id', e.conversation_id,
      'position', e.position, 'command_id', e.command_id, 'body', e.body)::text as json
    from ${named(database, 'audit_entries')} e
    where (e.transaction_id, e.conversation_id, e.position)
        > (${transaction}::text::xid8, ${conversation}::uuid, ${position}::bigint)
      and e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by e.transaction_id, e.conversation_id, e.position
    limit ${pageLimit(page)}`
  const rows = (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toRow)
  const reached = rows.at(-1)?.key
  return {
    entries: rows.map(({ entry }) => entry),
    next: reached === undefined ? (page.after ?? toCursor(BEGINNING)) : toCursor(reached),
  }
}

/** The place that the feed has come to: its newest entry before the oldest transaction that still runs, by the index of the feed. */
export const readEndOfChanges = async (database: Database): Promise<Cursor> => {
  const query = sql<{ transaction_id: string; conversation_id: string; position: string }>`
    select e.transaction_id::text, e.conversation_id::text, e.position::text
    from ${named(database, 'audit_entries')} e
    where e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by e.transaction_id desc, e.conversation_id desc, e.position desc
    limit 1`
  const { rows } = await withRetry(() => query.execute(database.kysely))
  const [last] = rows
  return toCursor(last === undefined ? BEGINNING : [last.transaction_id, last.conversation_id, Number(last.position)])
}
