import type { WindowParts } from './context-pressure.ts'
import type { CutText } from './cut-text.ts'
import { defined } from './defined.ts'
import type { AgentSessionId, ConversationId, MessageId, TurnId } from './ids.ts'
import type { Instant } from './instant.ts'
import type { Message, MessageRole } from './message.ts'
import { advance, type SequenceNumber, type SequenceRange, sequenceRange } from './sequence.ts'
import type { ToolCallReference } from './tool-call.ts'
import type { UsageReading } from './usage-reading.ts'

/** One request/response on a session's main thread. */
export interface Turn {
  readonly id: TurnId
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  /** 1, 2, 3 … within its session. */
  readonly number: number
  readonly range: SequenceRange
  readonly toolCalls: readonly ToolCallReference[]
  readonly usage: UsageReading
  readonly recordedAt: Instant
}

/** One use of a tool, as the caller reports it. */
export interface ToolCallInput {
  readonly callId: string
  readonly toolName: string
}

/** One message, as the caller reports it. Only an assistant calls tools. */
export type MessageInput = {
  readonly text: string
  /** Which text it is the beginning of, when it was cut. */
  readonly cut?: CutText
} & (
  | { readonly role: 'assistant'; readonly toolCalls?: readonly ToolCallInput[] }
  | { readonly role: Exclude<MessageRole, 'assistant'> }
)

/** One turn, as the caller reports it. */
export interface TurnInput {
  readonly messages: readonly MessageInput[]
  /** What this one request said about the window; left out means unknown. */
  readonly usage?: UsageReading
  /** What the runtime says of how large the window is, when it does. */
  readonly window?: WindowParts
  /** When the runtime said so, by its own clock: what came before a compaction is then not taken for what came after. */
  readonly producedAt?: Instant
}

/** A turn with its ids, not yet numbered. */
export interface TurnDraft {
  readonly id: TurnId
  readonly messages: readonly { readonly id: MessageId; readonly input: MessageInput }[]
  readonly usage: UsageReading
  readonly window?: WindowParts
  readonly producedAt?: Instant
}

/** Where a turn stands: its session, its number there, and the first free place in the conversation. */
export interface TurnPlace {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly number: number
  readonly start: SequenceNumber
  readonly at: Instant
}

/** Gives the messages and tool calls of a draft their places in the conversation. */
export const placeTurn = (draft: TurnDraft, place: TurnPlace): { turn: Turn; messages: readonly Message[] } => {
  const { conversationId, sessionId, number, start, at } = place
  const messages = draft.messages.map(
    ({ id, input }, index): Message =>
      defined({
        id,
        conversationId,
        sessionId,
        turnId: draft.id,
        sequenceNumber: advance(start, index),
        role: input.role,
        text: input.text,
        cut: input.cut,
        recordedAt: at,
      }),
  )
  const toolCalls = draft.messages.flatMap(({ id, input }, index) =>
    toolCallsOf(input).map(
      ({ callId, toolName }): ToolCallReference => ({
        callId,
        toolName,
        messageId: id,
        sequenceNumber: advance(start, index),
      }),
    ),
  )
  const range = sequenceRange(start, start + messages.length - 1)
  return {
    turn: { id: draft.id, conversationId, sessionId, number, range, toolCalls, usage: draft.usage, recordedAt: at },
    messages,
  }
}

/** The tool calls a message reports. */
const toolCallsOf = (input: MessageInput): readonly ToolCallInput[] =>
  input.role === 'assistant' ? (input.toolCalls ?? []) : []
