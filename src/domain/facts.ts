import type { BudgetUse } from './budget/restart-budget.ts'
import type { PersonMessages } from './checkpoint/carried-words.ts'
import type { Conversation } from './conversation/conversation.ts'
import type { HandoffMetadata } from './handoff/handoff.ts'
import type { ConversationId, HandoffId, TurnId } from './kernel/ids.ts'
import type { Instant } from './kernel/instant.ts'
import type { SequenceNumber } from './kernel/sequence.ts'
import type { RestartUse } from './restart/restart-use.ts'
import type { AgentSession } from './session/agent-session.ts'
import type { SourceSession, StoredSession } from './session/stored-session.ts'
import type { ToolCall } from './turn/tool-call.ts'
import type { ContextMonitor } from './window/context-monitor.ts'

/** Where a conversation's next session and next message go. */
export interface ConversationTail {
  /** 0 before the first session. */
  readonly lastEpoch: number
  readonly nextSequence: SequenceNumber
}

/** Facts for opening a conversation. */
export interface OpeningFacts {
  /** The conversation that already has the key. */
  readonly existing?: Conversation
  readonly parent?: Conversation
}

/** Facts for starting a session. */
export interface ConversationFacts extends ConversationTail {
  readonly conversation?: Conversation
  /** The session that has the conversation's baton, if one has. */
  readonly baton?: AgentSession
  /** The session asked for as the parent, wherever it is. */
  readonly parentSession?: AgentSession
  /** Whether the conversation already has a session of the id asked for. */
  readonly isTaken?: boolean
  /** The used part of the conversation's budget, when it was asked for. */
  readonly use?: BudgetUse
}

/** Facts for a command on one session. The caller's own copy is enough, until a version says otherwise. */
export interface SessionFacts {
  readonly working?: StoredSession
  readonly monitor?: ContextMonitor
  /** Until when its holder is to be heard of, the store's clock, and the mark of the process that holds it. */
  readonly lease?: { readonly until: Instant; readonly now: Instant; readonly runner?: string }
}

/** Facts for resuming a session: others may have worked meanwhile. */
export interface ResumeFacts extends SessionFacts {
  readonly conversation?: Conversation
  readonly baton?: AgentSession
  readonly nextSequence: SequenceNumber
}

/** A thread whose outcome may be reported, unless it was already. */
export interface ReportableThread {
  readonly handoffId: HandoffId
  readonly isReported: boolean
}

/** Facts for recording turns. A caller that holds the session may not know the tool calls before these turns. */
export interface TurnFacts extends SessionFacts {
  readonly conversation?: Conversation
  readonly exchangeToolCalls?: readonly ToolCall[]
  readonly lastToolCalls?: readonly ToolCall[]
  readonly restarts?: RestartUse
  readonly threads?: readonly ReportableThread[]
}

/** Facts for initiating a handoff. */
export interface SourceFacts extends SessionFacts {
  readonly conversation?: Conversation
  /** The turn asked for, if it is one of the source's conversation; else the source's latest. */
  readonly priorTurnId?: TurnId
  /** Those asked for that exist in the source's conversation, in order. */
  readonly namedToolCalls: readonly ToolCall[]
  /** Those of the source's current exchange, in order. */
  readonly exchangeToolCalls: readonly ToolCall[]
  /** Those of the source's last turn that has any, in order. */
  readonly lastToolCalls: readonly ToolCall[]
  /** The conversation that already has the key asked for. */
  readonly keyTakenBy?: ConversationId
  /** The used part of the conversation's budget, when it was asked for. */
  readonly restarts?: RestartUse
  /** Those of the handoffs asked for that opened a thread from the source's conversation, when any were asked for. */
  readonly threads?: readonly ReportableThread[]
  /** The store's clock. */
  readonly now: Instant
}

/** Facts for the next step of a handoff. */
export interface HandoffFacts extends ConversationTail {
  readonly handoff?: HandoffMetadata
  readonly conversation?: Conversation
  readonly source?: SourceSession
  /** The monitor of the source's window. */
  readonly monitor?: ContextMonitor
  /** The newest messages of people in the conversation, when they were asked for. */
  readonly personMessages?: PersonMessages
  /** The store's clock, by which claims are compared. */
  readonly now: Instant
}
