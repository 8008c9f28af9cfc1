import type { ConversationState } from '../../domain/conversation/conversation.ts'
import type { HandoffKind, HandoffStatus } from '../../domain/handoff/handoff.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { Metadata } from '../../domain/kernel/metadata.ts'
import type { SessionState } from '../../domain/session/agent-session.ts'
import type { ListOrder } from './page.ts'

/** Which handoffs to list. A handoff must match every field that is given. */
export interface HandoffFilter {
  readonly conversationId?: ConversationId
  /** The agent on either side. */
  readonly agent?: string
  readonly sourceAgent?: string
  readonly targetAgent?: string
  readonly kind?: HandoffKind
  readonly status?: HandoffStatus
  /**
   * Words of the reason, in any order: every one must occur, as a whole word, in upper or lower case. Every
   * character except letters and digits separates words. A text without a word finds nothing.
   */
  readonly reason?: string
  /** Initiated then or later. */
  readonly initiatedFrom?: Instant
  /** Initiated before then. */
  readonly initiatedBefore?: Instant
  /** Only handoffs that have not ended. */
  readonly isOpen?: true
  readonly overdue?: OverdueRule
  /** Whose note contains this. */
  readonly metadata?: Metadata
  readonly order?: ListOrder
}

/**
 * When an open handoff is overdue, by the store's clock: its claim has expired, or nobody has claimed it for too
 * long.
 */
export interface OverdueRule {
  /** How long a handoff may wait for its first claim; left out, only expired claims count. */
  readonly unclaimedForMs?: number
}

/** Which conversations to list, by the time they were opened. */
export interface ConversationFilter {
  readonly subject?: string
  /** Only conversations without a parent. */
  readonly isRoot?: true
  /** Only open conversations, or only closed ones. */
  readonly state?: ConversationState
  /** Whose note contains this. */
  readonly metadata?: Metadata
  readonly order?: ListOrder
}

/** Which sessions to list, across conversations, by the time they were started. */
export interface SessionFilter {
  readonly conversationId?: ConversationId
  readonly agentName?: string
  readonly state?: SessionState
  /** Whose note contains this. */
  readonly metadata?: Metadata
  readonly order?: ListOrder
}
