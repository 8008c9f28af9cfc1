import type { BudgetLimit } from '../budget/restart-budget.ts'
import type { AgentSessionId, ConversationId, HandoffId, HolderToken, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { parts } from '../kernel/parts.ts'
import type { SequenceNumber, SequenceRange } from '../kernel/sequence.ts'
import { statesOf, type TransitionTable, terminalStates } from '../kernel/state-machine.ts'
import type { MessageSummary } from '../turn/message-summary.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import type { UsageReading, UsageTotals } from '../window/usage-reading.ts'

/**
 * The commands of a session: by its holder, by its runtime (`attach`, `account`, `truncate`), by hand, or (`hold`,
 * `release`, `hand_off`) by its handoff.
 */
export type SessionCommandType =
  | 'record_turn'
  | 'extend_turn'
  | 'take_over'
  | 'attach'
  | 'account'
  | 'truncate'
  | 'pause'
  | 'resume'
  | 'complete'
  | 'fail'
  | 'hold'
  | 'release'
  | 'hand_off'

/**
 * The life of a session.
 *
 * @example
 * ```ts
 * console.log(Object.keys(SESSION_TRANSITIONS.paused).includes('record_turn')) // => false
 * console.log(SESSION_TRANSITIONS.paused.hand_off) // => handed_off
 * ```
 */
export const SESSION_TRANSITIONS = {
  active: {
    record_turn: 'active',
    take_over: 'active',
    attach: 'active',
    account: 'active',
    truncate: 'active',
    pause: 'paused',
    hold: 'paused',
    complete: 'completed',
    fail: 'failed',
  },
  paused: {
    extend_turn: 'paused',
    take_over: 'paused',
    account: 'paused',
    truncate: 'paused',
    resume: 'active',
    release: 'active',
    hand_off: 'handed_off',
    complete: 'completed',
    fail: 'failed',
  },
  handed_off: {},
  completed: {},
  failed: {},
} as const satisfies TransitionTable<string, SessionCommandType>

/** Where a session is in its life. */
export type SessionState = keyof typeof SESSION_TRANSITIONS

/** Every state of a session. */
export const SESSION_STATES: readonly SessionState[] = statesOf(SESSION_TRANSITIONS)

/** The states a session never leaves. */
export const TERMINAL_SESSION_STATES = terminalStates<SessionState, SessionCommandType>(SESSION_TRANSITIONS)

/** The facts a session begins with. */
export interface SessionIdentity<Note extends Metadata = Metadata> {
  readonly id: AgentSessionId
  readonly conversationId: ConversationId
  /** 1, 2, 3 …: the order of sessions in a conversation, and the fencing number for outside effects. */
  readonly epoch: number
  readonly agentName: string
  readonly backend: string
  readonly model?: string
  readonly parentSessionId?: AgentSessionId
  readonly initiatedByHandoff?: HandoffId
  readonly startSequence: SequenceNumber
  readonly startedAt: Instant
  /** The caller's own note. It may be replaced at any time, which moves nothing else. */
  readonly metadata?: Note
}

/** The progress of a session. It is stored as running figures, so that no command costs more as history grows. */
export interface SessionProgress {
  readonly turns: number
  readonly lastTurnId?: TurnId
  /** The sequence number of the next message. */
  readonly nextSequence: SequenceNumber
  readonly lastSequence?: SequenceNumber
  /** The last user message: where the current exchange began. */
  readonly exchangeStart?: SequenceNumber
  readonly window: ContextWindow
}

/** The content of the window now. */
export interface ContextWindow {
  readonly messages: MessageSummary
  /** Absent while the window is empty. */
  readonly range?: SequenceRange
  readonly usage: UsageReading
}

/** The known parts of a session depend on its state. */
export type SessionLifecycle =
  | { readonly state: 'active' }
  | {
      readonly state: 'paused'
      /** The open handoff that paused it; absent when it was paused by hand. */
      readonly heldBy?: HandoffId
    }
  | ({ readonly state: 'handed_off'; readonly terminatedByHandoff: HandoffId } & SessionEnd)
  | ({ readonly state: 'completed' } & SessionEnd)
  | ({
      readonly state: 'failed'
      readonly endReason: string
      /** The limit of the budget that ended it; absent when something else did. */
      readonly endedBy?: BudgetLimit
    } & SessionEnd)

/** How a session ended. */
export interface SessionEnd {
  readonly endedAt: Instant
  /** The last message of the session; absent when it never had one. */
  readonly endSequence?: SequenceNumber
}

/** The link of a session to its runtime; empty until one was launched for it. */
export interface SessionRuntime {
  /** The runtime's own name for the session. */
  readonly providerSessionId?: string
  /** Its usage in sum, as far as the runtime has said. Accounting, never a reading. */
  readonly totals?: UsageTotals
  /** How often it was taken over from a lost process; absent when it never was. */
  readonly takeovers?: number
}

/** The part of a session that changes, and the version it is compared by. */
export type SessionStanding = {
  readonly version: number
  readonly progress: SessionProgress
} & SessionRuntime &
  SessionLifecycle

/** One window's life inside a conversation: one agent, one provider session. */
export type AgentSession<Note extends Metadata = Metadata> = SessionIdentity<Note> & SessionStanding

/**
 * The copy that the holder of a session keeps, and passes back with its next command: the session as the last answer had it, the
 * holder's token, and the monitor of its window where the answer had one. Keep it with `{ ...working, ...answer }`.
 */
export interface WorkingSession {
  readonly session: AgentSession
  readonly holder: HolderToken
  readonly monitor?: ContextMonitor
}

/** The open handoff that holds a session, if one does. */
export const heldBy = (session: AgentSession): HandoffId | undefined =>
  session.state === 'paused' ? session.heldBy : undefined

/** Where the current exchange of a session began: its last user message, else its start. */
export const exchangeStartOf = ({ progress, startSequence }: AgentSession): SequenceNumber =>
  progress.exchangeStart ?? startSequence

/**
 * Whether a session has the baton of its conversation: it is active, or held by an open handoff.
 *
 * One session at a time has it. That one rule means both "one active session per conversation" and "no session starts
 * while a handoff is open".
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
 * const paused = unwrap(await handoffs.pauseSession(working))
 * console.log(hasBaton(working.session), hasBaton(paused.session)) // => true false
 * ```
 */
export const hasBaton = (session: AgentSession): boolean => session.state === 'active' || heldBy(session) !== undefined

/**
 * Whether a session is the first of a thread and nobody has launched it yet. Only a thread begins its first session with
 * a handoff, and the first process to take it may work it.
 */
export const isWaitingThread = (session: AgentSession): boolean =>
  session.state === 'active' &&
  session.epoch === 1 &&
  session.initiatedByHandoff !== undefined &&
  session.providerSessionId === undefined &&
  session.progress.turns === 0

/**
 * Whether a session has ended.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
 * const ended = unwrap(await handoffs.completeSession(working))
 * console.log(isTerminal(working.session), isTerminal(ended.session)) // => false true
 * ```
 */
export const isTerminal = (session: AgentSession): boolean => TERMINAL_SESSION_STATES.includes(session.state)

const IDENTITY = {
  id: true,
  conversationId: true,
  epoch: true,
  agentName: true,
  backend: true,
  model: true,
  parentSessionId: true,
  initiatedByHandoff: true,
  startSequence: true,
  startedAt: true,
  metadata: true,
} satisfies Record<keyof SessionIdentity, true>

/** The part of a session that never changes. */
export const sessionIdentityOf = (session: AgentSession): SessionIdentity => parts(session, IDENTITY, true)

/** The part of a session that changes. */
export const standingOf = (session: AgentSession): SessionStanding => parts(session, IDENTITY, false)
