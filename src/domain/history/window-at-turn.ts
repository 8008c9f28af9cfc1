import type { AgentSessionId, ConversationId, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { SequenceRange } from '../kernel/sequence.ts'
import type { ContextWindow } from '../session/agent-session.ts'
import type { ToolCall } from '../turn/tool-call.ts'

/**
 * The content of a session's window right after one of its turns, computed from the record.
 *
 * Only that session's messages count. While it was paused another session may have spoken, so the range may span more
 * places than there are messages. What a reported compaction took out is not in it.
 */
export interface WindowAtTurn extends ContextWindow {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly turnId: TurnId
  /** The turn's place in its session. */
  readonly turnNumber: number
  readonly recordedAt: Instant
  /** From the session's first message to the turn's last. */
  readonly range: SequenceRange
  /** In the order they were made. */
  readonly visibleToolCalls: readonly ToolCall[]
}
