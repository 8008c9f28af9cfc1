import type { CutText } from '../kernel/cut-text.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, HandoffId, MessageId, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { advance, type SequenceNumber, type SequenceRange, sequenceRange } from '../kernel/sequence.ts'
import type { WindowParts } from '../window/context-pressure.ts'
import type { UsageReading } from '../window/usage-reading.ts'
import { type Message, type MessageOrigin, type MessageRole, originsOf } from './message.ts'
import { keptArgument } from './tool-argument.ts'
import type { ToolCall } from './tool-call.ts'

/** One request/response on a session's main thread. */
export interface Turn {
  readonly id: TurnId
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  /** 1, 2, 3 … within its session. */
  readonly number: number
  readonly range: SequenceRange
  readonly toolCalls: readonly ToolCall[]
  readonly usage: UsageReading
  readonly recordedAt: Instant
}

/** One use of a tool, as the caller reports it. */
export interface ToolCallInput {
  readonly callId: string
  readonly toolName: string
  /**
   * The argument that distinguishes it from other uses of the tool: a command, a path, a pattern. Stored on one line,
   * 240 characters at most.
   */
  readonly argument?: string
}

/** One message, as the caller reports it. Only an assistant calls tools. */
export type MessageInput = {
  readonly text: string
  /**
   * Where it comes from. Unless given, a user message is a person's, an answer and a system message the runtime's, and a
   * result the tool's. Say so when a user message is not a person's: a person's words are carried into every window.
   */
  readonly origin?: MessageOrigin
  /** Which text it is the beginning of, when it was cut. */
  readonly cut?: CutText
  /** The runtime's own name for the message, or for the call that a tool's result answers. */
  readonly providerMessageId?: string
  /** The thread handoff whose outcome it reports. Only on a message of the origin `batonpass`; each is reported once. */
  readonly reports?: HandoffId
} & (
  | { readonly role: 'assistant'; readonly toolCalls?: readonly ToolCallInput[] }
  | { readonly role: Exclude<MessageRole, 'assistant'> }
)

/** One turn, as the caller reports it. */
export interface TurnInput {
  readonly messages: readonly MessageInput[]
  /** The reading of this one request; left out means unknown. */
  readonly usage?: UsageReading
  /** The size of the window according to the runtime, where it says so. */
  readonly window?: WindowParts
  /**
   * When the runtime made the reading, by its own clock, so that a reading from before a compaction is not taken for
   * one after it.
   */
  readonly producedAt?: Instant
}

/** A message with its id, not yet numbered. */
export interface MessageDraft {
  readonly id: MessageId
  readonly input: MessageInput
}

/** A turn with its ids, not yet numbered. */
export interface TurnDraft {
  readonly id: TurnId
  readonly messages: readonly MessageDraft[]
  readonly usage: UsageReading
  readonly window?: WindowParts
  readonly producedAt?: Instant
}

/** Where a turn stands: its session, its number there, and the first free place in the conversation. */
export interface TurnPlace extends Place {
  readonly number: number
}

/** Where messages go: after what was said in the conversation so far. */
export interface Place {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly start: SequenceNumber
  readonly at: Instant
}

/** Gives the messages and tool calls of a draft their places in the conversation. */
export const placeTurn = (draft: TurnDraft, place: TurnPlace): { turn: Turn; messages: readonly Message[] } => {
  const { conversationId, sessionId, number, start, at } = place
  const { messages, toolCalls } = placeMessages(draft.messages, draft.id, place)
  const range = sequenceRange(start, start + messages.length - 1)
  return {
    turn: { id: draft.id, conversationId, sessionId, number, range, toolCalls, usage: draft.usage, recordedAt: at },
    messages,
  }
}

/** Gives messages of a turn, and the tool calls they report, their places in the conversation. */
export const placeMessages = (
  drafts: readonly MessageDraft[],
  turnId: TurnId,
  { conversationId, sessionId, start, at }: Place,
): { readonly messages: readonly Message[]; readonly toolCalls: readonly ToolCall[] } => ({
  messages: drafts.map(
    ({ id, input }, index): Message =>
      defined({
        id,
        conversationId,
        sessionId,
        turnId,
        sequenceNumber: advance(start, index),
        role: input.role,
        origin: input.origin ?? originsOf(input.role)[0],
        text: input.text,
        cut: input.cut,
        providerMessageId: input.providerMessageId,
        reports: input.reports,
        recordedAt: at,
      }),
  ),
  toolCalls: drafts.flatMap(({ id, input }, index) =>
    toolCallsOf(input).map(
      ({ callId, toolName, argument }): ToolCall =>
        defined({
          callId,
          toolName,
          argument: argument === undefined ? undefined : keptArgument(argument),
          messageId: id,
          sequenceNumber: advance(start, index),
        }),
    ),
  ),
})

/** A turn with the messages after it, until its agent was interrupted. */
export const extendedTurn = (turn: Turn, said: TurnExtension): Turn => ({
  ...turn,
  range: { start: turn.range.start, end: said.messages.at(-1)?.sequenceNumber ?? turn.range.end },
  toolCalls: [...turn.toolCalls, ...said.toolCalls],
})

/** Messages that were said after a turn. */
export interface TurnExtension {
  readonly messages: readonly Message[]
  readonly toolCalls: readonly ToolCall[]
}

/** The tool calls a message reports. */
const toolCallsOf = (input: MessageInput): readonly ToolCallInput[] =>
  input.role === 'assistant' ? (input.toolCalls ?? []) : []
