import type { BudgetLimit, RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { HandoffStanding } from '../../domain/handoff/handoff.ts'
import type {
  AgentSessionId,
  ConversationId,
  HandoffId,
  SignalId,
  SnapshotId,
  TurnId,
} from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { SessionStanding } from '../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'

/**
 * The answer of a command, kept so that repeating the command gives the same answer.
 *
 * It never holds a token: only the call that made one has it.
 *
 * It holds the values that may change afterwards, and points at the rows that never change, so that texts and lists
 * are not stored twice and a text can be erased in one place.
 */
export interface Receipt {
  readonly conversationId?: ConversationId
  /** Whether the conversation was closed then. */
  readonly closedAt?: Instant
  /** The budget of the conversation then. */
  readonly restartBudget?: RestartBudget
  readonly session?: { readonly id: AgentSessionId; readonly standing: SessionStanding }
  readonly handoff?: { readonly id: HandoffId; readonly standing: HandoffStanding }
  readonly turnIds?: readonly TurnId[]
  readonly snapshotId?: SnapshotId
  readonly monitor?: ContextMonitor
  readonly signalIds?: readonly SignalId[]
  readonly refusedBy?: BudgetLimit
}
