import type { HandoffMetadata } from '../handoff/handoff.ts'
import type { AgentSession } from '../session/agent-session.ts'

/** A thread whose outcome its source waits for, and which no message has reported yet. */
export interface DelegatedThread {
  readonly handoff: HandoffMetadata
  /** The latest session of the child conversation. */
  readonly session: AgentSession
}

/** The size of a tree of conversations, from its root down, as seen from one of them. */
export interface ThreadTree {
  /** How many ancestors the conversation has; 0 for a root. */
  readonly depth: number
  /** How many threads were delegated in the whole tree. */
  readonly threads: number
  /** The cost of all sessions and checkpoints of the whole tree, as far as is known. */
  readonly costUsd: number
}
