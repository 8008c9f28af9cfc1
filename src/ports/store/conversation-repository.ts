import type { BudgetUse } from '../../domain/budget/restart-budget.ts'
import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { LineageRecord, LineageSubject } from '../../domain/history/lineage.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { DelegatedThread, ThreadTree } from '../../domain/thread/delegated-thread.ts'
import type { ConversationFilter } from './history-filters.ts'
import type { JobFilter, JobPage } from './job-list.ts'
import type { Page, Paged } from './page.ts'

/** The most delegated threads that one read answers with. */
export const MOST_DELEGATED = 1_000

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
  /**
   * The delegated threads of a conversation that no message reports yet, oldest first, `MOST_DELEGATED` at most, in one
   * round trip. The cost does not grow with what was said.
   */
  listDelegated(id: ConversationId): Promise<readonly DelegatedThread[]>
  /**
   * Jobs: conversations without a parent, each with all its threads, by `latestAt`, the newest first, in one round trip.
   * Those in which a session began or ended since then, those that were opened since then, a thread of them included, and
   * those with a session that has not ended. Costs what happened since then, however long the history before that is.
   */
  listJobs(filter: JobFilter, page: Page): Promise<JobPage>
  /** How deep a conversation is in its tree, and the size and cost of the whole tree, in one round trip. */
  findTree(id: ConversationId): Promise<ThreadTree | undefined>
}
