import { sql } from 'kysely'
import type { AuditLog } from '../../../ports/store/audit-log.ts'
import { toEntry } from '../rows/audit-entry-row.ts'
import { readChanges, readEndOfChanges } from './audit-feed.ts'
import { listStreams, readChain } from './audit-stream.ts'
import { auditedRowsIn } from './audited-rows.ts'
import { type Database, readDocuments, reading } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** The audit log of each conversation, and the feed over all. */
export const auditIn = (database: Database): AuditLog => ({
  ...auditedRowsIn(database),
  list: (conversation, page) =>
    reading(async () => {
      const document = sql<string>`jsonb_build_object('conversation_id', e.conversation_id, 'position', e.position,
        'command_id', e.command_id, 'body', e.body)::text`
      const all = database.kysely.selectFrom('audit_entries as e').select(document.as('json'))
      const mine = all.where('e.conversation_id', '=', conversation).orderBy('e.position').limit(limitOf(page))
      const from = page.after === undefined ? mine : mine.where('e.position', '>', Number(fromCursor(page.after, 1)[0]))
      const entries = (await readDocuments(() => from.execute())).map(toEntry)
      return paged(entries, page, ({ position }) => [position])
    }),
  readChain: (conversation, page) => reading(() => readChain(database, conversation, page)),
  listStreams: (page) => reading(() => listStreams(database, page)),
  changes: (page) => reading(() => readChanges(database, page)),
  endOfChanges: () => reading(() => readEndOfChanges(database)),
})
