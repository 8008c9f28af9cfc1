import type { Instant } from '../../domain/kernel/instant.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import type { Paged } from './page.ts'
import type { HeldLease } from './session-leases.ts'

/** The most waiting signals of one session that are counted: a longer queue is shown as this many. */
export const MOST_SIGNALS_COUNTED = 100

/** The signals that a session is still to be told, those of its handed-off predecessors included. */
export interface WaitingSignals {
  /** {@link MOST_SIGNALS_COUNTED} at most. */
  readonly count: number
  /** When the oldest of those counted was queued; absent where none waits. */
  readonly oldest?: Instant
}

/** A session that is active, paused or held, with everything that says whether somebody works on it. */
export interface UnfinishedSession {
  readonly session: AgentSession
  /** The orchestrator's own key of its conversation. */
  readonly conversationKey?: string
  /** Absent where its window is not watched. */
  readonly monitor?: ContextMonitor
  /** Absent where its holder never said until when to expect it. */
  readonly lease?: HeldLease & {
    /** By the store's own clock. */
    readonly isOver: boolean
  }
  readonly waitingSignals: WaitingSignals
}

/** One page of unfinished sessions, and the store's own time when it was read: leases and claims are compared with it. */
export interface UnfinishedPage extends Paged<UnfinishedSession> {
  readonly at: Instant
}
