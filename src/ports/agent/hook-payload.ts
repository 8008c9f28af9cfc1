import type { Workspace } from '../../domain/conversation/conversation.ts'
import type { HandoffKind } from '../../domain/handoff/handoff.ts'
import type { HookMoment } from '../../domain/hooks/hook-settings.ts'

/** The session a hook is about. An unknown value is null, so that every key is always there. */
export interface HookSession {
  readonly session_id: string
  readonly agent_name: string
  readonly job_id: string | null
  /** The root of the repository, or the folder of the work; the worktree has its own key. */
  readonly working_directory: string | null
  readonly worktree_path: string | null
  readonly branch_name: string | null
}

/** The session that is about to start, and what came before it. */
export interface HookSessionStart extends HookSession {
  /** Where the session is about to work: the worktree when there is one. */
  readonly working_directory: string | null
  readonly is_continuation: boolean
  readonly previous_session_id: string | null
  readonly handoff_count: number
}

/** How full the window is. The two shares are fractions of it: 0.92 is 92 %. */
export interface HookContext {
  readonly input_tokens: number
  readonly context_window: number
  readonly usage_percent: number
  readonly remaining_percent: number
  readonly model_name: string | null
}

/** The payload of a threshold hook. */
export interface ThresholdPayload {
  readonly hook_event_name: 'context_threshold'
  readonly context: HookContext
  readonly session: HookSession
  readonly original_prompt: string
}

/** The payload of a session-start hook, before the session is launched. */
export interface SessionStartPayload {
  readonly hook_event_name: 'session_start'
  readonly session: HookSessionStart
  readonly original_prompt: string
  /** The prompt the session will start from; the hook's output is put before it. */
  readonly prompt: string
}

/** The payload after a run, with any outcome. */
export interface AfterRunPayload {
  readonly hook_event_name: 'completed' | 'failed' | 'timeout' | 'cancelled'
  readonly run: {
    readonly duration_ms: number
    readonly handoff_count: number
    /** Why it did not complete. */
    readonly error: string | null
  }
  readonly session: HookSession
  readonly original_prompt: string
}

/** The payload when a run failed or timed out. */
export interface ErrorPayload {
  readonly hook_event_name: 'failed' | 'timeout'
  readonly error: { readonly code: string | null; readonly message: string }
  readonly session: HookSession
  readonly original_prompt: string
}

/** The payload once a handoff is completed. The session is the new one. */
export interface AfterHandoffPayload {
  readonly hook_event_name: 'handoff_completed'
  readonly handoff: {
    readonly handoff_id: string
    readonly kind: HandoffKind
    readonly reason: string
    /** Which one of the conversation it is, from 1. */
    readonly handoff_number: number
    readonly previous_session_id: string
    readonly new_session_id: string
  }
  readonly session: HookSession
  readonly original_prompt: string
}

/** The payload of each moment. */
export interface HookPayloads {
  readonly after_run: AfterRunPayload
  readonly on_error: ErrorPayload
  readonly on_context_threshold: ThresholdPayload
  readonly on_session_start: SessionStartPayload
  readonly after_handoff: AfterHandoffPayload
}

/** The payload of a hook. */
export type HookPayload = HookPayloads[HookMoment]

/** A session as it is known when a hook is called. */
export interface HookSessionFacts {
  readonly sessionId: string
  readonly agentName: string
  readonly jobId?: string
  readonly workspace?: Workspace
}

/**
 * The session as hooks are told of it: the repository in one key, the worktree in another.
 *
 * @example
 * ```ts
 * const workspace = { workingDirectory: '/repo', worktreePath: '/repo/.worktrees/fix' }
 * const { working_directory, worktree_path } = hookSession({ sessionId: 's-1', agentName: 'claude-code', workspace })
 * console.log(working_directory, worktree_path) // => /repo /repo/.worktrees/fix
 * ```
 */
export const hookSession = ({ sessionId, agentName, jobId, workspace = {} }: HookSessionFacts): HookSession => ({
  session_id: sessionId,
  agent_name: agentName,
  job_id: jobId ?? null,
  working_directory: workspace.workingDirectory ?? null,
  worktree_path: workspace.worktreePath ?? null,
  branch_name: workspace.branch ?? null,
})

/** A session that is about to start, and its history. */
export interface HookSessionStartFacts extends HookSessionFacts {
  readonly isContinuation: boolean
  readonly previousSessionId: string | null
  readonly handoffCount: number
}

/**
 * The session as hooks are told of it before it starts. Its working directory is where it is about to work.
 *
 * @example
 * ```ts
 * const workspace = { workingDirectory: '/repo', worktreePath: '/repo/.worktrees/fix' }
 * const first = { isContinuation: false, previousSessionId: null, handoffCount: 0 }
 * console.log(hookSessionStart({ sessionId: 's-1', agentName: 'claude-code', workspace, ...first }).working_directory) // => /repo/.worktrees/fix
 * ```
 */
export const hookSessionStart = (facts: HookSessionStartFacts): HookSessionStart => {
  const session = hookSession(facts)
  return {
    ...session,
    working_directory: session.worktree_path ?? session.working_directory,
    is_continuation: facts.isContinuation,
    previous_session_id: facts.previousSessionId,
    handoff_count: facts.handoffCount,
  }
}

/** A fraction to four places, which is a hundredth of a percent. */
export const roundedShare = (share: number): number => Math.round(share * 10_000) / 10_000

/**
 * The window in the form that hooks get. The used share may be above 1; the remaining share is never below 0.
 *
 * @example
 * ```ts
 * const { usage_percent, remaining_percent } = hookContext({ inputTokens: 170_000, contextWindow: 200_000 })
 * console.log(usage_percent, remaining_percent) // => 0.85 0.15
 * ```
 */
export const hookContext = (facts: {
  readonly inputTokens: number
  readonly contextWindow: number
  readonly modelName?: string
}): HookContext => {
  const usage = roundedShare(facts.inputTokens / facts.contextWindow)
  return {
    input_tokens: facts.inputTokens,
    context_window: facts.contextWindow,
    usage_percent: usage,
    remaining_percent: Math.max(0, roundedShare(1 - usage)),
    model_name: facts.modelName ?? null,
  }
}
