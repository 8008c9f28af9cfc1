import type { CutText } from '../kernel/cut-text.ts'
import type { AgentSessionId, ConversationId, HandoffId, MessageId, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { SequenceNumber } from '../kernel/sequence.ts'

/** Who speaks, in the order summaries are read. */
export const MESSAGE_ROLES = ['user', 'assistant', 'tool', 'system'] as const

/** Who speaks. */
export type MessageRole = (typeof MESSAGE_ROLES)[number]

/** Where a message comes from. */
export const MESSAGE_ORIGINS = ['person', 'runtime', 'tool', 'hook', 'batonpass', 'unknown'] as const

/**
 * Where a message comes from: a person wrote it, the agent or its runtime, a tool, a hook, or Batonpass itself. The role
 * cannot tell: runtimes, hooks and Batonpass speak to an agent as a user does, and an agent can print a user's message.
 * A text for the agent that came in by no door of the person is of `unknown` origin: shown as that, and never carried as
 * an instruction.
 */
export type MessageOrigin = (typeof MESSAGE_ORIGINS)[number]

/** The origins a message of each role can have. The first is the default. */
const ORIGINS_BY_ROLE = {
  user: ['person', 'runtime', 'hook', 'batonpass', 'unknown'],
  assistant: ['runtime'],
  tool: ['tool'],
  system: ['runtime', 'person', 'hook', 'batonpass'],
} as const satisfies Record<MessageRole, readonly [MessageOrigin, ...MessageOrigin[]]>

/** The origins a message of this role can have, the usual one first. */
export const originsOf = (role: MessageRole): readonly [MessageOrigin, ...MessageOrigin[]] => ORIGINS_BY_ROLE[role]

/** One message, as it is stored. */
export interface Message {
  readonly id: MessageId
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  /** Absent on the message a session opens with: no request had been made yet. */
  readonly turnId?: TurnId
  readonly sequenceNumber: SequenceNumber
  readonly role: MessageRole
  readonly origin: MessageOrigin
  readonly text: string
  /** The whole text that it is the beginning of; absent when it was not cut. */
  readonly cut?: CutText
  /** The runtime's own name for it; it identifies the message in a transcript. */
  readonly providerMessageId?: string
  /** The thread whose outcome this message reports; each is reported once. */
  readonly reports?: HandoffId
  readonly recordedAt: Instant
}

/** The messages a session opens with: the output of hooks, the text made from the record, and the person's prompt. */
export interface SessionOpening {
  readonly messages: readonly Message[]
  /** All of it, as the agent is launched with it. */
  readonly text: string
}

/** The opening that these messages are, in their order; nothing when there are none. */
export const sessionOpening = (messages: readonly Message[]): SessionOpening | undefined =>
  messages.length === 0 ? undefined : { messages, text: joinedPrompt(messages.map(({ text }) => text)) }

/** Parts of a prompt as one: what is launched, and what runtimes write down. */
export const joinedPrompt = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join('\n\n')

/** The handoff a message belongs to; found by joining, never stored twice. */
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
