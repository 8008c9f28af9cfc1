import { openBody } from '../../domain/audit/audit-chain.ts'
import type { AuditEntry } from '../../domain/audit-event.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { withholdTexts } from '../../domain/kernel/texts.ts'
import type { AuditLog } from '../../ports/store/audit-log.ts'
import type { AuditedRows } from '../../ports/store/audited-rows.ts'
import { type Page, pageLimit, strangeCursor } from '../../ports/store/page.ts'
import { headOf } from './audit-append.ts'
import { frozenCopy } from './frozen-copy.ts'
import { numberKey, pageBy } from './paging.ts'
import type { AuditRow, Tables } from './tables.ts'

/** The audit log of each conversation, and the feed over all. Nothing is ever in flight: commits are synchronous. */
export const auditIn = (tables: Tables): AuditLog => ({
  ...auditedRowsIn(tables),
  list: async (conversation, page) => {
    const rows = tables.audit.in('conversation', conversation)
    const { items, next } = pageBy(rows, ({ sealed }) => numberKey(sealed.position), page)
    return defined({ items: items.map(toEntry), next })
  },
  readChain: async (conversation, page) => {
    const { rows, next } = fromCount(tables.audit.in('conversation', conversation), page)
    const isThere = tables.conversations.get(conversation) !== undefined
    const { position, hash } = headOf(tables, conversation)
    return defined({
      entries: rows.map(({ sealed }) => frozenCopy(sealed)),
      head: isThere ? { position, hash } : undefined,
      next,
    })
  },
  listStreams: async (page) => {
    const opened = tables.conversations.in('all', 'all').map(({ id }) => id)
    return pageBy(opened, (id) => id, page)
  },
  changes: async (page) => {
    const { rows, next } = fromCount(tables.audit.in('all', 'all'), page)
    return { entries: rows.map((row) => ({ conversationId: row.conversationId, ...toEntry(row) })), next }
  },
  endOfChanges: async () => String(tables.audit.in('all', 'all').length),
})

/** A page of rows that are only ever added: the cursor is how many came before. */
const fromCount = <Row>(all: readonly Row[], page: Page): { readonly rows: readonly Row[]; readonly next: string } => {
  const start = Number(page.after ?? 0)
  if (!Number.isSafeInteger(start) || start < 0 || start > all.length) throw strangeCursor()
  const rows = all.slice(start, start + pageLimit(page))
  return { rows, next: String(start + rows.length) }
}

const toEntry = ({ conversationId, sealed: { position, commandId, body } }: AuditRow): AuditEntry =>
  frozenCopy({ position, commandId, event: withholdTexts(openBody(body, conversationId).event) })

/** The rows stored beside the log. Tables here are keyed by id alone, so no id is there twice. */
const auditedRowsIn = (tables: Tables): AuditedRows => ({
  listTurnsIn: async (conversation, session, page) => {
    const ofSession = tables.turns
      .in('session', session)
      .filter(({ conversationId }) => conversationId === conversation)
    return pageBy(ofSession, ({ number }) => numberKey(number), page)
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
