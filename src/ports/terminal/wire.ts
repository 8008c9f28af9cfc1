import type { AgentSessionId, ConversationId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { WindowParts } from '../../domain/window/context-pressure.ts'
import type { Milestone } from '../../domain/window/milestone.ts'
import type { WindowLevel } from '../../domain/window/window-level.ts'
import type { TerminalRuntime, WindowVariables } from './terminal-files.ts'

/*
 * Everything that hooks and the service tell each other: over HTTP, through the spool, and through files that hooks read
 * while no service runs. One half writes these shapes and the other one reads them, and each half checks them by itself,
 * because the other one may be of another version. Hooks start with every turn of somebody's session, so nothing is loaded here.
 */

/** The hooks that `baton hook` answers, by the word on its command line. */
export const TERMINAL_HOOKS = [
  'statusline',
  'session-start',
  'user-prompt-submit',
  'post-tool-use',
  'pre-compact',
  'post-compact',
  'stop',
  'session-end',
] as const

/** The hooks that say with which variables the agent works: at the start, and before each answer, for they may change. */
export const HOOKS_WITH_VARIABLES: readonly TerminalHook[] = ['session-start', 'user-prompt-submit']

/** One of the hooks that `baton hook` answers. */
export type TerminalHook = (typeof TERMINAL_HOOKS)[number]

/** The body of `POST /hooks/events`, and of a file in the spool. */
export interface HookPost {
  readonly v: 1
  /** Delivered again under the same id, an event changes nothing. */
  readonly commandId: string
  /** When the hook was called, by the clock of its machine. */
  readonly at: string
  /** The hook, or that signals were passed on. */
  readonly event: TerminalHook | 'ack'
  readonly runtime: TerminalRuntime
  readonly payload: TerminalPayload
  /** How long the service may wait for the transcript before it answers. */
  readonly waitMs?: number
}

/** The runtime's own input of a hook, with what the hook adds to it. Only the names below are used. */
export type TerminalPayload = Partial<HookFacts> & Readonly<Record<string, unknown>>

/** The facts in the input of a hook that are used. Nothing is sure of those that another program writes. */
export interface HookFacts extends AddedFacts {
  /** The runtime's own id of the session. */
  readonly session_id: unknown
  readonly transcript_path: unknown
  readonly cwd: unknown
  /** Present when the hook was called inside a subagent. */
  readonly agent_id: unknown
  readonly source: unknown
  readonly model: unknown
  readonly trigger: unknown
  readonly reason: unknown
  readonly prompt: unknown
  /** The session that started this one, by our id. */
  readonly parent_session_id: unknown
}

/** The facts that our own half of a hook adds. */
interface AddedFacts {
  /** The session inside of whose tools this one was started. */
  readonly within: string
  /** The variables that say where the runtime compacts by itself. */
  readonly variables: WindowVariables
  /** The signals that were passed on, of an acknowledgement. */
  readonly signals: readonly string[]
  /** How many secrets the hook hid. */
  readonly hidden_secrets: number
}

/** A signal on its way to an agent or a person. */
export interface SignalPost {
  readonly id: string
  readonly kind: string
  readonly milestone: string | null
  readonly delivery: string
  readonly text: string
  readonly for: 'agent' | 'person'
}

/** The answer to a `HookPost`. */
export interface HookReply {
  readonly outcome: string
  readonly session_id: string | null
  readonly signals: readonly SignalPost[]
  /** A text that the session is to begin with. */
  readonly inject: string | null
  /** A sentence for the person. */
  readonly notice: string | null
}

/** A handoff that was put into the spool because no service could be asked. */
export interface HandoffPost {
  readonly v: 1
  readonly commandId: string
  readonly at: string
  readonly handoff: UnsentHandoff
}

/** A handoff that no service could be given. */
export interface UnsentHandoff {
  /** The session, by the runtime's name or ours; else the one that works in this folder when it is taken. */
  readonly session?: string
  readonly working_in?: string
  readonly document: string
  readonly reason?: string
  readonly target_agent?: string
}

/** The text that a session gets back after a compaction, and the sentence that says so to its person. */
export interface GivenBack {
  readonly text: string
  readonly notice: string
}

/** A session as its status line and its start hook need it, readable while no service runs. */
export interface SessionCard {
  readonly v: 1
  readonly sessionId: string
  readonly conversationId: string
  readonly providerSessionId: string
  readonly milestones: readonly Milestone[]
  readonly level: WindowLevel
  /** The known parts of its window: they hold before anything is read, and after a compaction. */
  readonly window: WindowParts
  /** The variables that say where its runtime compacts, as its start hook saw them. */
  readonly variables: WindowVariables
  readonly restarts: number
  readonly costUsd: number | null
  /** Sentences for the person. */
  readonly notices: readonly string[]
  /** The text that the session gets back after a compaction. */
  readonly afterCompaction: GivenBack | null
  readonly lastHandoffPath: string | null
  readonly updatedAt: Instant
}

/** A document that waits for the next session of its workspace. */
export interface PendingDocument {
  readonly v: 1
  readonly id: string
  readonly workspace: string
  readonly runtime: TerminalRuntime
  /** The session that wrote it. */
  readonly providerSessionId: string
  readonly sessionId: AgentSessionId
  readonly conversationId: ConversationId
  readonly agentName: string
  readonly document: string
  readonly reason?: string
  /** Everything that the next session begins with. */
  readonly text: string
  /** The document as a file of its own. */
  readonly path: string
  readonly writtenAt: Instant
  /** How many turns its session had taken then. */
  readonly turns: number
  readonly expiresAt: Instant
}

/** One of these shapes as it arrives: the names are certain, and nothing else is. A name that was changed does not compile. */
export type Unread<T> = { readonly [K in keyof T]?: unknown }
