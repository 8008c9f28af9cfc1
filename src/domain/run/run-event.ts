import type { BudgetLimit, RestartBudget } from '../budget/restart-budget.ts'
import type { CheckpointOutcome } from '../checkpoint/checkpoint-facts.ts'
import type { HookError } from '../hooks/hook-result.ts'
import type { HookMoment } from '../hooks/hook-settings.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, HandoffId } from '../kernel/ids.ts'
import type { SessionState } from '../session/agent-session.ts'
import type { ProcessFate } from '../session/process-identity.ts'
import type { ToolCallInput } from '../turn/turn.ts'
import type { Pressure } from '../window/context-pressure.ts'
import type { CompactionTrigger } from '../window/window-event.ts'
import type { LevelFigures, WindowEnd } from '../window/window-level.ts'
import type { FreshReason } from './follow-up.ts'
import type { RunSummary } from './run-summary.ts'

/** The run that an event belongs to. The job is the orchestrator's own key for the conversation. */
export interface RunOrigin {
  readonly version: 1
  readonly conversationId: ConversationId
  readonly agentName: string
  readonly jobId: string | null
  /**
   * The runtime's own id of the session that the event is about, or of the one that the run works in; null until the
   * runtime has reported it.
   */
  readonly providerSessionId: string | null
}

/** How full a window is; null where it is not known. */
export interface WindowFigures {
  /** A fraction, as in hook payloads: 0.92 is 92 %. */
  readonly usagePercent: number | null
  readonly inputTokens: number | null
  /** The usable window. */
  readonly contextWindow: number | null
  /** The cause of the end of the usable window. */
  readonly windowEnd: WindowEnd | null
  /** The whole window of the model. */
  readonly wholeWindow: number | null
}

/** The figures of a window about which nothing is known. */
export const UNKNOWN_FIGURES: WindowFigures = {
  usagePercent: null,
  inputTokens: null,
  contextWindow: null,
  windowEnd: null,
  wholeWindow: null,
}

/** The level that figures state. It is worked out from the tokens where they are known: the fraction is rounded. */
export const levelInFigures = (figures: WindowFigures): LevelFigures | undefined => {
  const { usagePercent, inputTokens, contextWindow, windowEnd, wholeWindow } = figures
  if (usagePercent === null) return undefined
  const isCounted = inputTokens !== null && contextWindow !== null && contextWindow > 0
  return defined({
    ratio: isCounted ? inputTokens / contextWindow : usagePercent,
    usedTokens: inputTokens ?? undefined,
    windowTokens: contextWindow ?? undefined,
    end: windowEnd ?? undefined,
    wholeTokens: wholeWindow ?? undefined,
  })
}

type UnknownPressure = Extract<Pressure, { state: 'unknown' }>

interface OfSession {
  readonly sessionId: AgentSessionId
}

/** Why a hook failed: a code, a sentence with its exit status, signal or time, and the end of its error output. */
export interface HookProblem extends HookError {
  /** The last line that it wrote to standard error, cut and made harmless; null when it wrote none. */
  readonly lastLine: string | null
}

interface AgentHandoff {
  readonly handoffId: HandoffId
  readonly fromAgent: string
  readonly toAgent: string
}

interface Bodies {
  'session:start': OfSession & {
    readonly epoch: number
    readonly isContinuation: boolean
    readonly previousSessionId: AgentSessionId | null
  }
  /**
   * A further prompt of a conversation: it resumes the provider session of the last session, or starts in a fresh
   * window for the given reason.
   */
  'conversation:follow_up': OfSession & { readonly resumes: string | null; readonly freshBecause: FreshReason | null }
  'session:end': OfSession & { readonly state: SessionState; readonly reason: string | null }
  /** Another process has taken the session over; this run has stopped. */
  'session:replaced': OfSession
  /**
   * The process that held the session has ended, on this machine: the session was taken over before its lease expired.
   */
  'runner:gone': OfSession & { readonly host: string; readonly pid: number | null }
  /**
   * An orphaned agent process outlived its runner: it was ended, or is on another machine and cannot be ended from
   * here.
   */
  'process:left': OfSession & {
    readonly host: string
    readonly pid: number | null
    readonly fate: Extract<ProcessFate, 'ended' | 'elsewhere'>
  }
  'turn:recorded': OfSession & WindowFigures & { readonly turn: number; readonly toolCalls: readonly ToolCallInput[] }
  /** The runtime refused a tool call, because nobody had allowed it. `allowedBy` is the permission mode that would. */
  'tool:refused': OfSession & {
    readonly toolName: string
    readonly argument: string | null
    readonly isWrite: boolean
    readonly allowedBy: string | null
  }
  'context:milestone': OfSession & WindowFigures & { readonly milestone: string }
  /** The agent was sent the soft landing, because its window fills up: it is to finish its unit of work. */
  'context:landing': OfSession & WindowFigures
  'context:compaction': OfSession & { readonly trigger: CompactionTrigger; readonly preTokens: number | null }
  /**
   * A compaction showed that the usable window is smaller than believed; the smaller size counts for the
   * rest of the session.
   */
  'context:window:lowered': OfSession & { readonly fromTokens: number | null; readonly toTokens: number }
  /** Under `auto`, and once in a run: it is not known how full the window is, so there can be no restart. */
  'context:window:unknown': OfSession & { readonly why: UnknownPressure['why']; readonly model: string | null }
  'context:handoff:start': WindowFigures & { readonly handoffId: HandoffId; readonly oldSessionId: AgentSessionId }
  'context:handoff:checkpoint': { readonly handoffId: HandoffId; readonly outcome: CheckpointOutcome }
  'context:handoff:complete': WindowFigures & {
    readonly handoffId: HandoffId
    readonly oldSessionId: AgentSessionId
    readonly newSessionId: AgentSessionId
    /** Which restart of the conversation it is, from 1. */
    readonly handoffNumber: number
  }
  /** The work is being handed to another agent. */
  'agent:handoff:start': AgentHandoff & { readonly oldSessionId: AgentSessionId; readonly reason: string }
  /** Another agent of the run works from now on, in a session of its own. */
  'agent:handoff:complete': AgentHandoff & {
    readonly oldSessionId: AgentSessionId
    readonly newSessionId: AgentSessionId
  }
  /** The work waits for an agent that takes no part in the run: a worker for that agent may claim the handoff. */
  'agent:handoff:left': AgentHandoff & { readonly oldSessionId: AgentSessionId }
  /**
   * A piece of the work was delegated to a thread: another agent works on it at the same time, in its own conversation.
   */
  'thread:start': AgentHandoff & { readonly threadId: ConversationId; readonly task: string }
  /** A thread has ended, and its outcome is on record in the conversation that delegated it. */
  'thread:end': Omit<AgentHandoff, 'fromAgent'> & {
    readonly threadId: ConversationId
    readonly outcome: 'completed' | 'failed' | 'stopped'
    readonly reason: string | null
  }
  /** The restart was cancelled: the work was done, or the run was cancelled, before a successor began. */
  'context:handoff:cancelled': { readonly handoffId: HandoffId; readonly reason: string }
  'context:restart:refused': OfSession & {
    readonly limit: BudgetLimit
    readonly whenExhausted: RestartBudget['whenExhausted']
  }
  /**
   * A limit was reached, and nothing more is launched. With the cost of the conversation by then, and the estimated
   * part of it.
   */
  'budget:reached': {
    readonly sessionId: AgentSessionId | null
    readonly limit: BudgetLimit
    readonly costUsd: number
    readonly estimatedUsd: number
  }
  /** Something about the run that is allowed but may be a mistake. */
  'run:warning': { readonly code: RunWarningCode; readonly message: string }
  'hook:called': OfSession & {
    readonly moment: HookMoment
    readonly hook: string
    readonly ok: boolean
    /** Why it failed; null when it did not. */
    readonly error: HookProblem | null
  }
  'run:end': { readonly summary: RunSummary }
}

/** The stable code of a warning. */
export type RunWarningCode =
  | 'threshold.no_room_to_ask'
  | 'window.not_known_yet'
  | 'workspace.kept'
  | 'workspace.not_kept'
  | 'tools.not_served'
  | 'handoff.refused'
  | 'thread.block_waits'
  | 'thread.block_not_reset'
  | 'thread.offered'
  | 'thread.refused'
  | 'thread.waits'

/** The name of something that happens in a run. */
export type RunEventType = keyof Bodies

/** An event of a run, for listeners. The record has all of it too. */
export type RunEvent = { [Type in RunEventType]: { readonly type: Type } & RunOrigin & Bodies[Type] }[RunEventType]

/** The body of an event, without its origin. */
export type RunNews = { [Type in RunEventType]: { readonly type: Type } & Bodies[Type] }[RunEventType]
