import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { CheckpointRequest } from '../../domain/checkpoint/checkpoint-prompt.ts'
import type { ContinuationParts } from '../../domain/checkpoint/continuation.ts'
import type { Workspace } from '../../domain/conversation/conversation.ts'
import type { WorktreeSettings } from '../../domain/conversation/worktree.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { type InputProblem, objectOf, optional } from '../../domain/input/check.ts'
import { budgetChange, leaseMs } from '../../domain/input/details.ts'
import { monitorSettings } from '../../domain/input/readings.ts'
import { name } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { SESSION_MODES, type SessionMode } from '../../domain/run/session-settings.ts'
import type { FanOutLimits } from '../../domain/thread/fan-out.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { MonitorSettings, PressurePolicy } from '../../domain/window/context-monitor.ts'
import type { Milestone } from '../../domain/window/milestone.ts'
import type { AgentRuntime } from '../../ports/agent/agent-runtime.ts'
import type { Worktrees } from '../../ports/agent/worktrees.ts'

/** Settings of runs: of all of them, or of one run, which come first. */
export interface RunSettings {
  /** Called at their moments; threshold hooks replace the built-in restart. */
  readonly hooks?: readonly HookSettings[]
  /** The text that asks for a checkpoint, or a function that makes it; the built-in text unless given. */
  readonly template?: string | ((request: CheckpointRequest) => string)
  /** The text that a successor opens with, or a function that makes it of its parts; the built-in text unless given. */
  readonly continuation?: string | ((parts: ContinuationParts) => string)
  /**
   * How many tokens of the person's own words a successor is given, word for word. Unless given: a tenth of the usable
   * window, at most 20,000, and 8,000 when the window is not known.
   */
  readonly personWordsTokens?: number
  /**
   * The text that an agent at work is sent, once per cycle, when its window reaches the critical milestone and a
   * restart follows; the built-in text unless given, and no text when false.
   */
  readonly softLanding?: string | false
  /**
   * Whether a continued session gets the tool `look_back` for the earlier windows of its conversation, where its
   * runtime takes tools; it does unless this is false.
   */
  readonly lookBack?: boolean
  /** How long the outgoing agent may take to write its checkpoint. */
  readonly checkpointTimeoutMs?: number
  /**
   * How long the agent may be silent before it is ended; without limit unless given. A running tool counts as silence.
   */
  readonly idleTimeoutMs?: number
  /**
   * Where a further prompt of a conversation goes: `persistent` resumes the provider session of the last one where
   * possible, `fresh` always starts in a fresh window, from the record. `persistent` unless given.
   */
  readonly sessionMode?: SessionMode
  /** How long after its last answer a provider session may be resumed; a day unless given. */
  readonly sessionTimeoutMs?: number
  /** How many turns a run may have; without limit unless given. */
  readonly maxTurns?: number
  /** Whether a model without a list price may be used under a cap on the cost. What it costs is not counted then. */
  readonly allowUnpriced?: boolean
  /** How far the agents of a run may delegate: see {@link FanOutLimits} for each limit and its default. */
  readonly fanOut?: Partial<FanOutLimits>
  /** Where the work is done, unless the conversation has a workspace on record. */
  readonly workspace?: Workspace
  /** Gives the conversation a git worktree and a branch of its own, unless its workspace names a worktree. */
  readonly worktree?: WorktreeSettings
  /**
   * How long this process may be silent before another may take the run over. It renews its lease three times in that
   * time.
   */
  readonly leaseMs?: number
}

/** A request to run an agent. */
export interface RunRequest<Message = unknown> extends RunSettings {
  readonly runtime: AgentRuntime<Message>
  readonly prompt: string
  /** The agent's name, the same in every window. */
  readonly agent: string
  /** The orchestrator's own key for the work. A run with the same key continues from the record of the run before. */
  readonly conversation?: string
  /** A stored conversation, by its id instead of its key. */
  readonly conversationId?: ConversationId
  /** The policy about a full window: `manual` does nothing, `advise` reports it, `auto` restarts. */
  readonly policy?: PressurePolicy
  readonly milestones?: readonly Milestone[]
  /** How many tokens of the window to use, fewer than the model takes. */
  readonly contextLimit?: number
  readonly model?: string
  /** Begin in this session of the runtime instead of a new one. A restart leaves that session as it is. */
  readonly resume?: string
  /**
   * Parts of the conversation's budget. A new conversation has the usual budget beside these; the budget of a stored
   * one is changed to them, and the change is recorded. A number is the new total.
   */
  readonly budget?: Partial<RestartBudget>
  readonly subject?: string
  /** Cancels the run: an open handoff is cancelled, and the session is paused, so that a later run can resume it. */
  readonly signal?: AbortSignal
}

/** The workspace of one agent of a conversation. */
export type AgentWorkplace = Pick<RunSettings, 'workspace' | 'worktree'>

/** Settings for the runs of one agent, where a run sets none. */
export interface AgentRunSettings
  extends Pick<RunRequest, 'hooks' | 'milestones' | 'contextLimit' | 'budget' | 'sessionMode' | 'sessionTimeoutMs'> {
  /** Where this agent works; absent means where the conversation is worked. */
  readonly place?: AgentWorkplace
}

/** A request with the settings of its agent where it has none of its own. */
export const withAgent = <Request extends RunRequest>(
  request: Request,
  agents: ReadonlyMap<string, AgentRunSettings> | undefined,
): Request => {
  const own = typeof request.agent === 'string' ? agents?.get(request.agent.trim()) : undefined
  if (own === undefined) return request
  const { place: _, ...settings } = own
  const budget = { ...own.budget, ...request.budget }
  return { ...settings, ...defined(request), ...(Object.keys(budget).length > 0 && { budget }) } as Request
}

/** A request of a single agent with the workspace of that agent, unless the request names one. */
export const withPlace = <Request extends RunRequest>(request: Request, place: AgentWorkplace | undefined): Request =>
  place === undefined || request.workspace !== undefined ? request : ({ ...place, ...defined(request) } as Request)

/** The monitor settings of a run's first session. */
export const monitorOf = ({ policy, milestones, contextLimit }: RunRequest): MonitorSettings =>
  defined({ policy, milestones, contextLimit })

/** Refuses an invalid request before anything is stored. @throws TypeError, RefusedError */
export const checkRequest = (request: RunRequest): void => {
  const { conversation, conversationId, resume, runtime, hooks, checkpointTimeoutMs, agent, model } = request
  if (typeof runtime?.start !== 'function')
    throw new TypeError('A run needs a runtime: one of ours, or what functionRuntime makes of a function.')
  if (conversation !== undefined && conversationId !== undefined)
    throw new TypeError('Name the conversation by its key or by its id, not by both.')
  if (resume !== undefined && runtime.resume === undefined)
    throw new TypeError(`The runtime "${runtime.backend}" cannot resume a session, so there is nothing to resume.`)
  if (hooks !== undefined && !Array.isArray(hooks)) throw new TypeError('hooks is a list of hooks.')
  if (checkpointTimeoutMs !== undefined && !(checkpointTimeoutMs >= 0))
    throw new TypeError('checkpointTimeoutMs is a number of milliseconds from 0 up.')
  const { idleTimeoutMs, maxTurns, personWordsTokens } = request
  if (personWordsTokens !== undefined && !(Number.isSafeInteger(personWordsTokens) && personWordsTokens >= 0))
    throw new TypeError('personWordsTokens is a whole number of tokens from 0 up.')
  if (idleTimeoutMs !== undefined && !(idleTimeoutMs > 0))
    throw new TypeError('idleTimeoutMs is a number of milliseconds above 0.')
  if (maxTurns !== undefined && !(Number.isSafeInteger(maxTurns) && maxTurns >= 1))
    throw new TypeError('maxTurns is a whole number from 1 up.')
  const { sessionMode, sessionTimeoutMs } = request
  if (sessionMode !== undefined && !SESSION_MODES.includes(sessionMode))
    throw new TypeError(`sessionMode is one of ${SESSION_MODES.join(', ')}.`)
  if (sessionTimeoutMs !== undefined && !(sessionTimeoutMs >= 0))
    throw new TypeError('sessionTimeoutMs is a number of milliseconds from 0 up.')
  for (const [limit, value] of Object.entries(request.fanOut ?? {}))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      throw new TypeError(`fanOut.${limit} is a whole number from 0 up.`)
  const { softLanding } = request
  if (
    softLanding !== undefined &&
    softLanding !== false &&
    !(typeof softLanding === 'string' && softLanding.trim() !== '')
  )
    throw new TypeError('softLanding is a text, or false to switch it off.')
  if (request.lookBack !== undefined && typeof request.lookBack !== 'boolean')
    throw new TypeError('lookBack is true or false.')
  const problems: InputProblem[] = []
  if (request.budget !== undefined) budgetChange(request.budget, 'budget', problems)
  fields({ agent, backend: runtime.backend, model, leaseMs: request.leaseMs }, '', problems)
  monitorSettings(monitorOf(request), '', problems)
  if (problems.length > 0) throw new RefusedError({ code: 'input.invalid', fields: problems })
}

const fields = objectOf<{ agent: string; backend: string; model?: string; leaseMs?: number }>({
  agent: name,
  backend: name,
  model: optional(name),
  leaseMs: optional(leaseMs),
})

/** How long a runner may be silent before another may take its session over, unless a setting says otherwise. */
export const DEFAULT_LEASE_MS = 30_000

/** How often a runner renews its lease within the time that it may be silent. */
export const BEATS_PER_LEASE = 3

/** Parts of a configuration for runs, beside their settings. */
export interface RunSurroundings {
  /** Settings by agent name, for what a run does not set itself. */
  readonly agents?: ReadonlyMap<string, AgentRunSettings>
  /** Makes the worktrees of conversations that have one of their own. */
  readonly worktrees?: Worktrees
}
