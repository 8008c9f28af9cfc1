import type { BudgetUse } from '../domain/budget/restart-budget.ts'
import type { Conversation } from '../domain/conversation/conversation.ts'
import type { LineageRecord, LineageSubject } from '../domain/history/lineage.ts'
import type { ConversationId } from '../domain/kernel/ids.ts'
import type { ConversationFilter } from './history-filters.ts'
import type { Page, Paged } from './page.ts'

/**
 * Keeps conversations. An absent one is `undefined`, never an error; a broken store is an error, never `undefined`.
 * No two conversations have the same external key.
 */
export interface ConversationRepository {
  find(id: ConversationId): Promise<Conversation | undefined>
  findByExternalKey(key: string): Promise<Conversation | undefined>
  /** Reads the used part of a conversation's budget, over all its sessions and runs, in one round trip. */
  findUse(id: ConversationId): Promise<BudgetUse | undefined>
  /** By the time they were opened. */
  list(filter: ConversationFilter, page: Page): Promise<Paged<Conversation>>
  /**
   * A conversation, its ancestors and all that descends from it, with every session and handoff, in one read. The id
   * of a session or a handoff stands for its conversation; a thread's handoff belongs to the parent conversation.
   */
  lineage(of: ConversationId | LineageSubject): Promise<LineageRecord | undefined>
}
