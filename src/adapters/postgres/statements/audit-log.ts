import { sql } from 'kysely'
import { z } from 'zod'
import type { SealedEntry } from '../../../domain/audit/audit-chain.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { type ConversationId, commandId } from '../../../domain/kernel/ids.ts'
import type { AuditLog, ChainPage } from '../../../ports/store/audit-log.ts'
import { type Page, type Paged, pageLimit } from '../../../ports/store/page.ts'
import { toEntry } from '../rows/audit-entry-row.ts'
import { aConversation, maybe, reader } from '../rows/row-types.ts'
import { fromStoredJson } from '../rows/text-codec.ts'
import { readChanges, readEndOfChanges } from './audit-feed.ts'
import { auditedRowsIn } from './audited-rows.ts'
import { type Database, guardedRead, qualified, readDocuments, withRetry } from './database.ts'
import { fromCursor, type Key, limitOf, paged, toCursor } from './paging.ts'

/** The audit log of each conversation, and the feed over all. */
export const auditIn = (database: Database): AuditLog => ({
  ...auditedRowsIn(database),
  list: (conversation, page) =>
    guardedRead(async () => {
      const document = sql<string>`jsonb_build_object('conversation_id', e.conversation_id, 'position', e.position,
        'command_id', e.command_id, 'body', e.body)::text`
      const all = database.kysely.selectFrom('audit_entries as e').select(document.as('json'))
      const ofConversation = all
        .where('e.conversation_id', '=', conversation)
        .orderBy('e.position')
        .limit(limitOf(page))
      const from =
        page.after === undefined
          ? ofConversation
          : ofConversation.where('e.position', '>', Number(fromCursor(page.after, 1)[0]))
      const entries = (await readDocuments(() => from.execute())).map(toEntry)
      return paged(entries, page, ({ position }) => [position])
    }),
  readChain: (conversation, page) => guardedRead(() => readChain(database, conversation, page)),
  listStreams: (page) => guardedRead(() => listStreams(database, page)),
  changes: (page) => guardedRead(() => readChanges(database, page)),
  endOfChanges: () => guardedRead(() => readEndOfChanges(database)),
})

const entry = z.object({
  position: z.number(),
  command_id: z.string().transform(commandId),
  body: z.string(),
  previous_hash: z.string(),
  hash: z.string(),
  salt: maybe(z.string()),
  /** The position again, in full: one that was tampered with may be more than a number holds. */
  key: z.string(),
  /** Where the row lies: the only thing two rows that claim one position cannot share. */
  place: z.string(),
})

const toPage = reader(
  'audit stream',
  z.object({ head: maybe(z.object({ position: z.number(), hash: z.string() })), entries: z.array(entry) }),
)

const toStream = reader('conversation', z.object({ id: aConversation }))

/** Before every position, however it was tampered with. */
const BEGINNING: Key = ['-9223372036854775808', '(0,0)']

/** One page of a stream as it is stored, and its head, in one statement: what one shows, the other does too. */
const readChain = async (database: Database, conversation: ConversationId, page: Page): Promise<ChainPage> => {
  const after = page.after === undefined ? BEGINNING : fromCursor(page.after, 2)
  const query = chainQuery(database, conversation, { after, limit: pageLimit(page) })
  const { rows } = await withRetry(() => query.execute(database.kysely))
  // Not through the text codec: a hash is over the text as it is stored.
  const { head, entries } = toPage(JSON.parse(rows[0]?.json ?? 'null'))
  const last = entries.at(-1)
  const next = last === undefined ? page.after : toCursor([last.key, last.place])
  return defined({ entries: entries.map(toSealed), head, next: next ?? toCursor(BEGINNING) })
}

const chainQuery = (
  database: Database,
  conversation: ConversationId,
  { after: [key, place], limit }: { readonly after: Key; readonly limit: number },
) => sql<{ json: string }>`
  select jsonb_build_object(
    'head', (
      select jsonb_build_object('position', position, 'hash', encode(hash, 'hex'))
      from ${qualified(database, 'audit_heads')} where conversation_id = ${conversation}::uuid),
    'entries', (
      select coalesce(jsonb_agg(to_jsonb(p) order by p.position, p.place::tid), '[]')
      from (
        select e.position, e.command_id, e.body, encode(e.previous_hash, 'hex') as previous_hash,
          encode(e.hash, 'hex') as hash, e.position::text as key, e.ctid::text as place,
          (select s.salt from ${qualified(database, 'audit_salts')} s
           where s.conversation_id = e.conversation_id and s.position = e.position limit 1) as salt
        from ${qualified(database, 'audit_entries')} e
        where e.conversation_id = ${conversation}::uuid 
          and (e.position, e.ctid) > (${key}::text::bigint, ${place}::text::tid)
        order by e.position, e.ctid
        limit ${limit}) p))::text as json`

const toSealed = (row: z.output<typeof entry>): SealedEntry => {
  const { position, command_id, body, previous_hash, hash, salt } = row
  const json = toText(fromStoredJson(JSON.stringify(body)))
  return defined({ position, commandId: command_id, body, json, previousHash: previous_hash, hash, salt })
}

const toText = reader('audit entry', z.string())

/** Every conversation of which a row, a head or an entry is left. */
const listStreams = async (database: Database, page: Page): Promise<Paged<ConversationId>> => {
  const after = page.after === undefined ? null : fromCursor(page.after, 1)[0]
  const limit = limitOf(page)
  const part = (table: string, column: string) => sql`
    (select distinct ${sql.id(column)} as id from ${qualified(database, table)}
     where ${after}::uuid is null or ${sql.id(column)} > ${after}::uuid order by 1 limit ${limit})`
  const query = sql<{ json: string }>`
    select jsonb_build_object('id', id)::text as json from (
      ${part('conversations', 'id')}
      union ${part('audit_heads', 'conversation_id')}
      union ${part('audit_entries', 'conversation_id')}) streams
    order by id limit ${limit}`
  const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  const ids = rows.map((row) => toStream(row).id)
  return paged(ids, page, (id) => [id])
}
