import type { AuditEntry } from '../domain/audit-event.ts'
import type { ConversationId } from '../domain/ids.ts'
import type { Page, Paged } from './page.ts'

/**
 * Keeps what happened, one gap-free stream per conversation, and never changes it.
 *
 * Entries are appended by the unit of work, in the commit of the change they describe. They hold no texts: those live
 * in the rows the entry names. Folding a stream gives the stored state, texts withheld.
 */
export interface AuditLog {
  /** From position 1 on. */
  list(conversation: ConversationId, page: Page): Promise<Paged<AuditEntry>>
}
