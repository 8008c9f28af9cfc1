import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { Changes } from '../../../ports/store/audit-log.ts'
import { type Cursor, type Page, pageLimit } from '../../../ports/store/page.ts'
import { entryRow, feedEntry } from '../rows/audit-entry-row.ts'
import { maybe, reader } from '../rows/row-types.ts'
import { called, type Database, qualified, readDocuments } from './database.ts'
import {
  BEGINNING,
  type FeedKey,
  type FeedState,
  feedCursor,
  readFeedCursor,
  refuseMovedCursor,
} from './feed-cursor.ts'

const row = z.object({
  number: z.number(),
  mark: z.string(),
  unused: maybe(z.string()),
  asked_mark: maybe(z.string()),
  ended: maybe(z.string()),
  entry: maybe(entryRow.extend({ transaction_id: z.string() })),
})

const toRow = reader(
  'audit entry',
  row.transform(({ number, mark, unused, asked_mark, ended, entry }) => ({
    state: defined({ generation: { number, mark }, unused, mark: asked_mark, ended }) satisfies FeedState,
    found: entry && {
      key: [entry.transaction_id, entry.conversation_id, entry.position] as const satisfies FeedKey,
      entry: feedEntry(entry),
    },
  })),
)

/** The number of the cursor's generation. */
type Asked = RawBuilder<unknown>

/** The server of a generation, short: a cursor is to fit into a header. */
const MARK = sql`left(encode(sha256(convert_to(server, 'UTF8')), 'hex'), 8)`

/**
 * The feed as it stands: its generation, and the id before which it is complete. Earlier generations are complete, and of
 * this one the transactions before the oldest that still runs: those that begin later have higher ids, so nothing can
 * appear before a place the feed has passed.
 */
const feedNow = (database: Database, generation: Asked) => sql`
  feed as materialized (
    select number, first_transaction, ${MARK} as mark,
      greatest((pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ahead)::text::xid8, first_transaction) as complete,
      greatest((pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ahead)::text::xid8, first_transaction) as unused
    from ${called(database, 'feed')}()),
  known as (
    select number, first_transaction, ${MARK} as mark from ${qualified(database, 'feed_generations')}
    where number in (${generation}, ${generation} + 1)
    union select number, first_transaction, mark from feed)`

const feedFacts = (generation: Asked) => sql`'number', feed.number, 'mark', feed.mark,
  'unused', case when not pg_is_in_recovery() then feed.unused::text end,
  'asked_mark', (select mark from known where number = ${generation}),
  'ended', (select first_transaction::text from known where number = ${generation} + 1)`

/** One page of the feed, in the order of transactions: one row for each entry, or a row without one. */
export const readChanges = async (database: Database, page: Page): Promise<Changes> => {
  const cursor = page.after === undefined ? undefined : readFeedCursor(page.after)
  const [transaction, conversation, position] = cursor?.key ?? BEGINNING
  const number = sql`${cursor?.generation.number ?? 0}::integer`
  const query = sql<{ json: string }>`
    with ${feedNow(database, number)}
    select jsonb_build_object(${feedFacts(number)}, 'entry', to_jsonb(e))::text as json
    from feed left join (
      select e.transaction_id::text, e.transaction_id as place, e.conversation_id, e.position, e.command_id, e.body
      from ${qualified(database, 'audit_entries')} e
      where (e.transaction_id, e.conversation_id, e.position)
          > (${transaction}::text::xid8, ${conversation}::uuid, ${position}::bigint)
        and e.transaction_id < (select complete from feed)
      order by e.transaction_id, e.conversation_id, e.position
      limit ${pageLimit(page)}) e on true
    order by e.place, e.conversation_id, e.position`
  const rows = (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toRow)
  const state = stateOf(rows)
  if (cursor !== undefined) refuseMovedCursor(cursor, state)
  const found = rows.flatMap((one) => one.found ?? [])
  const reached = found.at(-1)?.key ?? cursor?.key ?? BEGINNING
  return { entries: found.map(({ entry }) => entry), next: feedCursor(state.generation, reached) }
}

/** The place that the feed has come to: its newest entry that is complete, by the index of the feed. */
export const readEndOfChanges = async (database: Database): Promise<Cursor> => {
  const none = sql`0`
  const query = sql<{ json: string }>`
    with ${feedNow(database, none)}
    select jsonb_build_object(${feedFacts(none)}, 'entry', to_jsonb(e))::text as json
    from feed left join (
      select e.transaction_id::text, e.conversation_id, e.position, e.command_id, e.body
      from ${qualified(database, 'audit_entries')} e
      where e.transaction_id < (select complete from feed)
      order by e.transaction_id desc, e.conversation_id desc, e.position desc
      limit 1) e on true`
  const rows = (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toRow)
  return feedCursor(stateOf(rows).generation, rows[0]?.found?.key ?? BEGINNING)
}

const stateOf = (rows: readonly { readonly state: FeedState }[]): FeedState => {
  const [first] = rows
  if (first === undefined) throw new TypeError('The database did not say where the feed is')
  return first.state
}
