import type { AuditedRows } from '../../ports/store/audited-rows.ts'
import { numberKey, pageBy } from './paging.ts'
import type { Tables } from './tables.ts'

/** The rows stored beside the log. Tables here are keyed by id alone, so no id is there twice. */
export const auditedRowsIn = (tables: Tables): AuditedRows => ({
  listTurnsIn: async (conversation, session, page) => {
    const mine = tables.turns.in('session', session).filter(({ conversationId }) => conversationId === conversation)
    return pageBy(mine, ({ number }) => numberKey(number), page)
  },
  listToolCallsIn: async (conversation, page) => {
    const rows = tables.toolCalls.in('conversation', conversation).map(({ reference: _, ...record }) => record)
    return pageBy(rows, ({ sequenceNumber: at, position }) => `${numberKey(at)}/${numberKey(position)}`, page)
  },
  listSnapshotsIn: async (conversation, page) =>
    pageBy(tables.snapshots.in('conversation', conversation), ({ id }) => id, page),
  listLookBacksIn: async (conversation, page) =>
    pageBy(tables.lookBacks.in('conversation', conversation), ({ id }) => id, page),
  findCommands: async (ids) => ids.flatMap((id) => tables.commands.get(id) ?? []),
  listUnnamedCommands: async (conversation) => {
    const named = new Set(tables.audit.in('conversation', conversation).map(({ sealed }) => sealed.commandId))
    return tables.commands.in('all', 'all').filter((row) => row.conversationId === conversation && !named.has(row.id))
  },
  listMisnumbered: async () => [],
  listSharedIds: async () => ({ items: [] }),
})
