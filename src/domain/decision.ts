import type { AuditEvent } from './audit-event.ts'
import type { AskedPrompt, BudgetLimit, RestartBudget } from './budget/restart-budget.ts'
import type { Conversation } from './conversation/conversation.ts'
import { claimOf, type HandoffMetadata } from './handoff/handoff.ts'
import { defined } from './kernel/defined.ts'
import { Draft, type FinishedDraft, type Lifecycle } from './kernel/draft.ts'
import type { AgentSessionId, ConversationId, HandoffId, HolderDigest, HolderToken, TurnId } from './kernel/ids.ts'
import type { Instant } from './kernel/instant.ts'
import type { Metadata } from './kernel/metadata.ts'
import type { Result } from './kernel/result.ts'
import type { SequenceNumber } from './kernel/sequence.ts'
import type { Refusal } from './refusal.ts'
import { type AgentSession, heldBy } from './session/agent-session.ts'
import type { ContextSignal } from './session/context-signal.ts'
import type { SnapshotRecord } from './session/context-snapshot.ts'
import type { LookBackRecord } from './session/looked-back.ts'
import type { ProcessIdentity } from './session/process-identity.ts'
import type { SourceSession, StoredSession } from './session/stored-session.ts'
import type { Message } from './turn/message.ts'
import type { Turn, TurnExtension } from './turn/turn.ts'
import type { ContextMonitor } from './window/context-monitor.ts'
import type { ReportOutcome } from './window/monitor-reports.ts'

/** One thing a decision changes. A store keeps all changes of a decision, in order, or none. */
export type Change =
  | { readonly type: 'add_conversation'; readonly conversation: Conversation }
  /** Closes a conversation, or opens it again. Kept only while it is the other way, and closed only while nobody has the baton. */
  | { readonly type: 'set_closed'; readonly conversationId: ConversationId; readonly closedAt?: Instant }
  /** Changes nothing, but everything else is kept only while the conversation is open. */
  | { readonly type: 'expect_open'; readonly conversationId: ConversationId }
  /** Takes the place of a budget, or of the latest new prompt. The last one counts, so nothing is compared. */
  | {
      readonly type: 'set_budget'
      readonly conversationId: ConversationId
      readonly restartBudget?: RestartBudget
      readonly asked?: AskedPrompt
    }
  /** Takes the place of a note. The last one counts, so nothing is compared. */
  | {
      readonly type: 'set_metadata'
      readonly of: 'conversation' | 'session' | 'handoff'
      readonly id: string
      readonly conversationId: ConversationId
      readonly metadata?: Metadata
    }
  /** Puts an extract with a handoff. Kept only while it has none. */
  | {
      readonly type: 'keep_extract'
      readonly handoffId: HandoffId
      readonly conversationId: ConversationId
      readonly extract: string
    }
  | { readonly type: 'add_session'; readonly working: StoredSession }
  /** Compare-and-set: kept only while the stored session is still what the decision was based on. */
  | { readonly type: 'move_session'; readonly working: SourceSession; readonly expected: Expected }
  /** Changes nothing, but everything else is kept only while the session is still what the decision was based on. */
  | { readonly type: 'expect_session'; readonly session: SessionKey; readonly expected: Expected }
  /** Changes nothing, but everything else is kept only while nobody has spoken from that place on. */
  | { readonly type: 'expect_tail'; readonly conversationId: ConversationId; readonly nextSequence: SequenceNumber }
  | { readonly type: 'add_turn'; readonly turn: Turn; readonly messages: readonly Message[] }
  /** Adds to the last turn of a session what was said after it. */
  | ({ readonly type: 'extend_turn'; readonly session: SessionKey; readonly turnId: TurnId } & TurnExtension)
  /** The message a session opens with; it belongs to no turn. */
  | { readonly type: 'add_message'; readonly message: Message }
  | { readonly type: 'add_snapshot'; readonly snapshot: SnapshotRecord }
  | { readonly type: 'add_look_back'; readonly lookBack: LookBackRecord }
  | { readonly type: 'add_handoff'; readonly handoff: HandoffMetadata }
  /** Compare-and-set: kept only while the stored handoff is still what the decision was based on. */
  | { readonly type: 'move_handoff'; readonly handoff: HandoffMetadata; readonly expected: ExpectedHandoff }
  | { readonly type: 'add_monitor'; readonly monitor: ContextMonitor }
  /** Compare-and-set: kept only while the stored monitor is still at version `expected`. */
  | { readonly type: 'move_monitor'; readonly monitor: ContextMonitor; readonly expected: number }
  /**
   * Promises that the session's holder is heard of again within that time, by the store's clock. With `ifExpired` it is
   * kept only when the promise before it was broken.
   */
  | {
      readonly type: 'set_lease'
      readonly session: SessionKey
      readonly holder: HolderDigest
      readonly leaseMs: number
      /** The process that holds the session; in the place of the one before it, also when it is absent. */
      readonly runner?: ProcessIdentity
      readonly ifExpired?: true
    }
  /** With `ifExpired` it is kept only when the promise was broken. */
  | { readonly type: 'drop_lease'; readonly session: SessionKey; readonly ifExpired?: true }
  | { readonly type: 'add_signal'; readonly signal: ContextSignal }
  /** Takes back what a session is still to be told about a window. What was delivered, and other messages, stay. */
  | {
      readonly type: 'withdraw_signals'
      readonly conversationId: ConversationId
      readonly aboutId: AgentSessionId
      readonly at: Instant
    }

/**
 * The session a decision was based on. All of it must still stand: a version alone would let a wrong copy with the right
 * number pass for the truth.
 */
export interface Expected {
  readonly version: number
  /** The digest of its holder's token, where the decision knew. */
  readonly holder?: HolderDigest
  /** The token that was shown. A store digests it and compares: a reader of the digest cannot show the token. */
  readonly token?: HolderToken
  readonly state: AgentSession['state']
  readonly heldBy?: HandoffId
  readonly turns: number
  readonly nextSequence: SequenceNumber
}

/** The handoff a decision was based on. All of it must still stand. */
export interface ExpectedHandoff {
  readonly version: number
  readonly status: HandoffMetadata['status']
  readonly claimant?: string
  readonly deadline?: Instant
}

/** Where a session is found. */
export type SessionKey = Pick<AgentSession, 'id' | 'conversationId'>

/** The state of this session that a decision is based on. */
export const expecting = ({ session, holder, token }: SourceSession): Expected => {
  const { version, state, progress } = session
  const { turns, nextSequence } = progress
  return defined({ version, holder, token, state, heldBy: heldBy(session), turns, nextSequence })
}

/** The facts about this handoff that a decision is based on. */
export const expectingHandoff = (handoff: HandoffMetadata): ExpectedHandoff => {
  const { claimant, deadline } = claimOf(handoff) ?? {}
  return defined({ version: handoff.version, status: handoff.status, claimant, deadline })
}

/** The possible parts of an answer. Each command names the parts it gives. */
export interface Answer {
  readonly conversation?: Conversation
  readonly session?: AgentSession
  /** Only the command that makes a token answers with it. */
  readonly holder?: HolderToken
  /** Another call has the token, and no store has it. To work in the session, take it over. */
  readonly next?: 'take_over'
  readonly handoff?: HandoffMetadata
  readonly turns?: readonly Turn[]
  readonly snapshot?: SnapshotRecord
  readonly monitor?: ContextMonitor
  /** The signals that were queued with it. */
  readonly signals?: readonly ContextSignal[]
  readonly outcome?: ReportOutcome
  /** The budget limit that refused the restart. */
  readonly refusedBy?: BudgetLimit
}

/** A decision in the making. */
export type DecisionDraft = Draft<AuditEvent, Change>

/** An empty draft. Finished as it is, it changes nothing. */
export const newDraft = (): DecisionDraft => new Draft()

/** A kind of thing with a life, as decisions change it. */
export type DecidedLifecycle<State, Begun, Moved, Command> = Lifecycle<State, Begun, Moved, Command, Refusal, Change>

/** A yes: what to change, what to write into the log, what to answer. */
export type Decision<A extends Answer> = FinishedDraft<AuditEvent, Change, A>

/** A yes, or the reason for a no. */
export type Decided<A extends Answer> = Result<Decision<A>, Refusal>

/** Neither yes nor no: the facts at hand do not say enough, and are to be read whole. */
export interface Undecided {
  readonly needs: 'facts'
}

/** Asks for all the facts that the store has. */
export const UNDECIDED: Undecided = { needs: 'facts' }
