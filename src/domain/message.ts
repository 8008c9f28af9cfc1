import type { CutText } from './cut-text.ts'
import type { AgentSessionId, ConversationId, HandoffId, MessageId, TurnId } from './ids.ts'
import type { Instant } from './instant.ts'
import type { SequenceNumber } from './sequence.ts'

/** Who speaks, in the order summaries are read. */
export const MESSAGE_ROLES = ['user', 'assistant', 'tool', 'system'] as const

/** Who speaks. */
export type MessageRole = (typeof MESSAGE_ROLES)[number]

/** One message, as it is stored. */
export interface Message {
  readonly id: MessageId
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  /** Absent on the message a session opens with: no request had been made yet. */
  readonly turnId?: TurnId
  readonly sequenceNumber: SequenceNumber
  readonly role: MessageRole
  readonly text: string
  /** Which text it is the beginning of; absent when it is whole. */
  readonly cut?: CutText
  /** The runtime's own name for it; what is read back from a transcript is known by it. */
  readonly providerMessageId?: string
  readonly recordedAt: Instant
}

/** What a message has to do with handoffs; found by joining, never stored twice. */
export interface MessageMetadata {
  readonly sessionId: AgentSessionId
  /** The newest handoff whose prior turn this message belongs to. */
  readonly ledTo?: HandoffId
  /** The handoff this message's session began with; on the opening message and the first turn only. */
  readonly continues?: HandoffId
}

/** A message as history shows it. */
export interface MessageInHistory extends Message {
  readonly metadata: MessageMetadata
}
