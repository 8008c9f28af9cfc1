import type { BudgetLimit } from '../../domain/budget/restart-budget.ts'
import type { AskConversation, SetBudget } from '../../domain/conversation/change-conversation.ts'
import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { HandoffRequest, InitiateHandoff } from '../../domain/handoff/initiate-handoff.ts'
import type { KeepCheckpoint, PrepareHandoff } from '../../domain/handoff/prepare-handoff.ts'
import type { AcceptHandoff, CompleteHandoff, EndHandoff } from '../../domain/handoff/settle-handoff.ts'
import type { HookDeliveries } from '../../domain/hooks/hook-delivery.ts'
import type { AgentSessionId, CommandId, ConversationId, HandoffId, HolderToken } from '../../domain/kernel/ids.ts'
import type { SetMetadata } from '../../domain/kernel/metadata.ts'
import type { RecordTurns } from '../../domain/recording/record-turns.ts'
import type { BeginRestart } from '../../domain/restart/begin-restart.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { Resume, TakeOver } from '../../domain/session/change-session.ts'
import type { SignalDelivery } from '../../domain/session/context-signal.ts'
import type { SnapshotType } from '../../domain/session/context-snapshot.ts'
import type { RecordLookBack } from '../../domain/session/looked-back.ts'
import type { StartSession } from '../../domain/session/start-session.ts'
import type { OpenThread } from '../../domain/thread/open-thread.ts'
import type { MessageInput, Turn, TurnInput } from '../../domain/turn/turn.ts'
import type { ContextMonitor, MonitorSettings } from '../../domain/window/context-monitor.ts'
import type { MonitorReport } from '../../domain/window/monitor-reports.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'

/** Any command may be named by the caller; the same name again gives the first answer and writes nothing. */
export interface Repeatable {
  readonly commandId?: CommandId
}

/** A session as the caller holds it, or just its id. A held session saves a read. */
export interface OnSession extends Repeatable {
  readonly session: AgentSession | AgentSessionId
  /** When given, the command is taken only from the session's current holder. */
  readonly holder?: HolderToken
  /** The monitor of its window, as the last command answered. Recording a turn then needs no read. */
  readonly monitor?: ContextMonitor
}

/** No token at all. Not `never`: by that TypeScript would let a token pass that may be missing. */
type NoToken = HolderToken & { readonly [noToken]: never }
declare const noToken: unique symbol

/**
 * Who changes a session. Its own process shows the token of its holder. A person, or a program from outside, has none and
 * says `byHand: true`, which is on record. One of the two, and never both.
 */
export type HolderOrHand =
  | { readonly holder: HolderToken; readonly byHand?: never }
  | { readonly byHand: true; readonly holder?: NoToken }

/** A session that is changed, as the definition of a command reads it. Callers say {@link HolderOrHand}. */
export interface ChangesSession extends OnSession {
  readonly byHand?: true
}

/** A request to pause or complete a session. */
export type ChangeSessionRequest = ChangesSession & HolderOrHand

/** As its holder: the caller that has the token holds the session. */
export interface AsHolder extends OnSession {
  readonly holder: HolderToken
}

/** A conversation as the caller holds it, or just its id. */
export interface OnConversation extends Repeatable {
  readonly conversation: Conversation | ConversationId
}

/** A handoff as the caller holds it, or just its id. */
export interface OnHandoff extends Repeatable {
  readonly handoff: HandoffMetadata | HandoffId
}

/** The answer of an earlier step of the handoff. With both of these no read is needed. */
export interface HeldAtHandoff {
  /** The source, as the handoff holds it. */
  readonly session?: AgentSession
  readonly conversation?: Conversation
  /** The monitor of the source's window. */
  readonly monitor?: ContextMonitor
}

/** A step of a handoff, by who works its source. */
export interface FromSource {
  /** The token of the source's holder: refused when somebody else works it by now. */
  readonly holder?: HolderToken
}

/** A change of a conversation's budget. */
export interface BudgetRequest extends OnConversation, SetBudget {}
/** A prompt that a person gives a conversation. */
export interface AskRequest extends OnConversation, AskConversation {}
/** A request to set the note of a conversation. An empty note removes it. */
export interface ConversationMetadataRequest extends OnConversation, SetMetadata {}
/** The note of a session, as the command reads it. */
export interface SessionNote extends Omit<ChangesSession, 'monitor'>, SetMetadata {}
/** A request to set the note of a session. An empty note removes it. */
export type SessionMetadataRequest = SessionNote & HolderOrHand
/** A request to set the note of a handoff. An empty note removes it. */
export interface HandoffMetadataRequest extends OnHandoff, SetMetadata {}
/** A request to put on record what a session asked when it looked back. */
export interface LookBackRecordRequest extends Repeatable, RecordLookBack {
  readonly session: AgentSession | AgentSessionId
}
/** A request to capture a snapshot of a window. */
export interface SnapshotRequest extends OnSession {
  /** The type of the snapshot; `on_demand` unless given. */
  readonly type?: SnapshotType
}
/** A request to record one turn. */
export interface RecordTurnRequest extends AsHolder, TurnOptions, TurnInput {}
/** A request to record several turns, all or none. */
export interface RecordTurnsRequest extends AsHolder, TurnOptions {
  readonly turns: readonly TurnInput[]
}
/** Options beside the turns. */
export type TurnOptions = Pick<RecordTurns, 'withholdRestart' | 'traceContext' | 'failLater' | 'handOver'>
/** A session to resume, as the command reads it. */
export interface ResumeDetails extends ChangesSession, Resume {}
/** A request to resume a session. */
export type ResumeRequest = ResumeDetails & HolderOrHand
/** A request to take a session over. */
export interface TakeOverRequest extends Omit<OnSession, 'holder'>, TakeOver {}
/** A request to record the provider session that the runtime launched. */
export interface AttachRequest extends AsHolder {
  readonly providerSessionId: string
}
/** A request to record the usage of a session. */
export interface AccountRequest extends AsHolder {
  readonly totals: UsageTotals
}
/** A request to restart a session in a fresh window, within its budget. */
export interface RestartRequest extends AsHolder, Omit<BeginRestart, 'sessionId' | 'holder'> {}
/** Messages to add to the turn that led to a handoff. */
export interface ExtendTurnRequest extends OnHandoff, HeldAtHandoff {
  /** The token of the source's holder: any other caller is refused. */
  readonly holder: HolderToken
  readonly messages: readonly MessageInput[]
}
/** A request to start a session. */
export interface StartRequest extends StartSession, Repeatable {
  /** The nonce of the continuation's fences, if one is given. Redaction leaves it as it is. */
  readonly nonce?: string
}
/** A request to keep the checkpoint of the outgoing agent. */
export interface KeepCheckpointRequest extends OnHandoff, HeldAtHandoff, Omit<KeepCheckpoint, 'handoffId' | 'holder'> {
  /** The token of the source's holder: any other caller is refused. */
  readonly holder: HolderToken
}
/** A request to keep the opening of a successor. */
export interface PrepareRequest extends OnHandoff, HeldAtHandoff, Omit<PrepareHandoff, 'handoffId' | 'holder'> {
  /** The token of the source's holder: any other caller is refused. */
  readonly holder: HolderToken
  /** The nonce of the continuation's fence, if the fence is not one of ours. Redaction leaves it as it is. */
  readonly nonce?: string
}

/** An extract for a handoff: work of its source that was not recorded in its turns. */
export interface ExtractRequest extends OnHandoff {
  readonly extract: string
}
/** A request to log calls of hooks. */
export interface HooksRequest extends Repeatable, HookDeliveries {}
/** A request to report a runtime's statement about a window. */
export interface ReportRequest extends Omit<OnSession, 'monitor'> {
  readonly report: MonitorReport
}
/** A request to change how a window is watched. */
export interface WatchRequest extends Omit<OnSession, 'monitor'> {
  readonly settings: MonitorSettings
}
/** A request to tell a session something. */
export interface SendRequest extends Omit<OnSession, 'monitor'> {
  readonly text: string
  /** `sequential` unless given. */
  readonly delivery?: SignalDelivery
}
/** A request to fail a session. */
export type FailSessionRequest = FailDetails & HolderOrHand
/** A session to fail, as the command reads it. */
export interface FailDetails extends ChangesSession {
  readonly reason: string
  /** The limit of the budget that ends it, if one does. */
  readonly limit?: BudgetLimit
}
/** A request to initiate a handoff. */
export type InitiateRequest = InitiateDetails & HolderOrHand
/** A handoff to initiate, as the command reads it. */
export interface InitiateDetails extends ChangesSession, Omit<InitiateHandoff, keyof HandoffRequest>, HandoffDetails {
  /** The turns just recorded, as they were answered. When they are the whole exchange, no read is needed. */
  readonly turns?: readonly Turn[]
}
/** A request to open a thread. */
export type ThreadRequest = ThreadDetails & HolderOrHand
/** A thread to open, as the command reads it. */
export interface ThreadDetails extends ChangesSession, Omit<OpenThread, keyof HandoffRequest>, HandoffDetails {
  /** The nonce of the continuation's fences, if one is given. Redaction leaves it as it is. */
  readonly nonce?: string
}
/** The details of every handoff. */
export interface HandoffDetails extends Omit<HandoffRequest, 'sessionId' | 'holder' | 'byHand'> {}
/** A request to claim a handoff. */
export interface AcceptRequest
  extends OnHandoff,
    HeldAtHandoff,
    FromSource,
    Omit<AcceptHandoff, 'handoffId' | 'holder'> {}
/** A request to complete a handoff. */
export interface CompleteRequest
  extends OnHandoff,
    HeldAtHandoff,
    FromSource,
    Omit<CompleteHandoff, 'handoffId' | 'holder'> {
  /** The nonce of the continuation's fences, if one is given. Redaction leaves it as it is. */
  readonly nonce?: string
}
/** A request to cancel or fail a handoff. */
export interface EndRequest extends OnHandoff, FromSource, Omit<EndHandoff, 'handoffId' | 'holder'> {}

/** A request to claim the next handoff for an agent. */
export interface ClaimNextRequest extends Omit<AcceptHandoff, 'handoffId' | 'holder'>, FromSource, Repeatable {
  readonly targetAgent: string
  /** Wait for one when none is pending; `signal` ends the wait. */
  readonly wait?: boolean
  /** How often to look while waiting. */
  readonly pollMs?: number
  readonly signal?: AbortSignal
}
