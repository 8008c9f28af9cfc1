import type { ConversationId } from './ids.ts'
import type { Instant } from './instant.ts'
import type { RestartBudget } from './restart-budget.ts'

/** Where a conversation's work lies on disk; the same for every session in it. */
export interface Workspace {
  readonly workingDirectory?: string
  readonly worktreePath?: string
  readonly branch?: string
}

/** One long piece of work: a job, a thread, an issue. It outlives many windows. */
export interface Conversation {
  readonly id: ConversationId
  /** The orchestrator's own id for the work; opening it again finds the same conversation. */
  readonly externalKey?: string
  /** Whose data this is. Opaque to Batonpass. */
  readonly subject?: string
  readonly originalTask: string
  readonly parentId?: ConversationId
  readonly workspace?: Workspace
  readonly restartBudget: RestartBudget
  readonly openedAt: Instant
}
