import type { AuditHead, SealedEntry } from '../../domain/audit/audit-chain.ts'
import type { AuditEntry } from '../../domain/audit-event.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { AuditedRows } from './audited-rows.ts'
import type { Cursor, Page, Paged } from './page.ts'

/**
 * Keeps what happened, one gap-free, hash-chained stream per conversation, and never changes it.
 *
 * Entries are appended by the unit of work, in the commit of the change they describe. They hold no texts: those live
 * in the rows the entry names. Folding a stream gives the stored state, texts withheld.
 */
export interface AuditLog extends AuditedRows {
  /** From position 1 on. */
  list(conversation: ConversationId, page: Page): Promise<Paged<AuditEntry>>
  /** The entries as they are stored, in order of position, even if they were changed; and the head, in one read. */
  readChain(conversation: ConversationId, page: Page): Promise<ChainPage>
  /** Every conversation of which anything is left: itself, its head or an entry. By id. */
  listStreams(page: Page): Promise<Paged<ConversationId>>
  /**
   * Every change of every conversation, for consumers outside. An entry is never skipped, however long its writer took, and never
   * given twice; the entries of a conversation come in order. This holds across a restore on another server: a cursor of before
   * is refused with the one to continue from (`feed.moved`). A cursor ahead of a store that was set back is refused too.
   */
  changes(page: Page): Promise<Changes>
  /** The cursor after the last change that the feed gives now, for consumers of new changes only. One look, however long the log is. */
  endOfChanges(): Promise<Cursor>
}

/** One page of a stream as it is stored. */
export interface ChainPage {
  readonly entries: readonly SealedEntry[]
  /** The end of the stream when the page was read; absent when the head was deleted, or there was never a stream. */
  readonly head?: AuditHead
  /** The place to continue from after this page: now, or when there is more. */
  readonly next: Cursor
}

/** One entry of the feed. */
export interface FeedEntry extends AuditEntry {
  readonly conversationId: ConversationId
}

/** One page of the feed. */
export interface Changes {
  readonly entries: readonly FeedEntry[]
  /** The cursor after this page, to use now or later. Store it once the page has been dealt with. */
  readonly next: Cursor
}
