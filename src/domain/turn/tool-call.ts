import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, MessageId, TurnId } from '../kernel/ids.ts'
import type { SequenceNumber } from '../kernel/sequence.ts'
import type { Turn } from './turn.ts'

/** Points at one use of a tool: which call, of which tool, in which message. */
export interface ToolCallReference {
  /** The runtime's own name for the call, such as `toolu_01…`; not a UUID. */
  readonly callId: string
  readonly toolName: string
  readonly messageId: MessageId
  readonly sequenceNumber: SequenceNumber
}

/** One use of a tool, as it is read back. */
export interface ToolCall extends ToolCallReference {
  /**
   * The argument that distinguishes it from other uses of the tool, on one line: a command, a path, a pattern. Absent
   * when unknown.
   */
  readonly argument?: string
}

/** Points at a use of a tool. Its argument is stored with the call itself, and nowhere else. */
export const referenceTo = ({ callId, toolName, messageId, sequenceNumber }: ToolCall): ToolCallReference => ({
  callId,
  toolName,
  messageId,
  sequenceNumber,
})

/** A handoff names at most this many calls: the latest ones led to it, so the oldest are left out. */
export const MAX_REFERENCED_TOOL_CALLS = 100

/** One use of a tool as it is stored, with everything it belongs to. */
export interface ToolCallRecord {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly turnId: TurnId
  readonly sequenceNumber: SequenceNumber
  /** 1, 2, 3 … within its message. */
  readonly position: number
  readonly callId: string
  readonly toolName: string
  readonly argument?: string
}

/** Names a use of a tool in its conversation: a call id may come again, in another message. */
export const toolCallName = ({ sequenceNumber, callId }: ToolCallRecord): string => `${sequenceNumber}/${callId}`

/** The tool calls of a turn at their places in their messages, in order. */
export const toolCallRecords = ({
  conversationId,
  sessionId,
  id,
  toolCalls,
}: Pick<Turn, 'conversationId' | 'sessionId' | 'id' | 'toolCalls'>): readonly ToolCallRecord[] => {
  const seen = new Map<number, number>()
  return toolCalls.map(({ sequenceNumber, callId, toolName, argument }) => {
    const position = (seen.get(sequenceNumber) ?? 0) + 1
    seen.set(sequenceNumber, position)
    return defined({ conversationId, sessionId, turnId: id, sequenceNumber, position, callId, toolName, argument })
  })
}
