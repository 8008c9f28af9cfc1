import { sql } from 'kysely'
import { z } from 'zod'
import type { AuditEntry, AuditEvent } from '../../domain/audit-event.ts'
import { commandId } from '../../domain/ids.ts'
import { withholdTexts } from '../../domain/texts.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import { type Database, readDocuments, reading } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'
import { reader } from './row-types.ts'

/** An event is our own words back, guarded by its hash; it is not taken apart here. */
const toEntry = reader(
  'audit entry',
  z.object({ position: z.number(), command_id: z.string().transform(commandId), body: z.string() }).transform(
    ({ position, command_id, body }): AuditEntry => ({
      position,
      commandId: command_id,
      event: withholdTexts(JSON.parse(body) as AuditEvent),
    }),
  ),
)

/** The audit log of each conversation. */
export const auditIn = ({ kysely }: Database): AuditLog => ({
  list: (conversation, page) =>
    reading(async () => {
      const document = sql<string>`jsonb_build_object('position', e.position, 'command_id', e.command_id, 'body', e.body)::text`
      const all = kysely.selectFrom('audit_entries as e').select(document.as('json'))
      const mine = all.where('e.conversation_id', '=', conversation).orderBy('e.position').limit(limitOf(page))
      const from = page.after === undefined ? mine : mine.where('e.position', '>', Number(fromCursor(page.after, 1)[0]))
      const entries = (await readDocuments(() => from.execute())).map(toEntry)
      return paged(entries, page, ({ position }) => [position])
    }),
})
