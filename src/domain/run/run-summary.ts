import type { BudgetLimit } from '../budget/restart-budget.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { UsageTotals } from '../window/usage-reading.ts'
import type { RefusedTool } from './refused-tools.ts'

/**
 * How a run ended: completed, failed, cancelled, out of time, out of restarts, superseded by another process that
 * holds the session now, handed over to an agent that does not take part in the run, or answered although every attempt
 * to change a file was refused.
 */
export type RunOutcome =
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'timed_out'
  | 'exhausted'
  | 'superseded'
  | 'handed_over'
  | 'writes_refused'

/** The result of a run, over all its sessions. */
export interface RunSummary {
  readonly conversationId: ConversationId
  readonly outcome: RunOutcome
  /** Why it did not complete. */
  readonly reason?: string
  /** The limit that an exhausted run reached. */
  readonly limit?: BudgetLimit
  readonly sessions: number
  readonly turns: number
  readonly restarts: number
  /** How often the work was handed to another agent of the run. */
  readonly transfers: number
  /** How many threads were delegated, and run by this run. */
  readonly threads: number
  /** The tools that its runtimes refused to its agents and to those of its threads, and how often. */
  readonly refusedTools: readonly RefusedTool[]
  /** How many tool calls changed files, where the runtimes report that. */
  readonly writes: number
  /**
   * Its total usage, checkpoints and threads included, as far as the runtimes report it. `estimatedUsd` is the
   * estimated part of the cost.
   */
  readonly totals: UsageTotals
  readonly durationMs: number
  readonly lastSessionId?: AgentSessionId
}

/** Two sums in one. */
export const addTotals = (a: UsageTotals, b: UsageTotals | undefined): UsageTotals => {
  if (b === undefined) return a
  return combined(a, b, (one, other) => one + other)
}

/** The difference of two sums. It is negative where a figure was estimated too high before. */
export const differenceOf = (now: UsageTotals, before: UsageTotals): UsageTotals =>
  combined(now, before, (one, other) => one - other)

const combined = (a: UsageTotals, b: UsageTotals, by: (one: number, other: number) => number): UsageTotals => {
  const part = (name: keyof UsageTotals): number | undefined =>
    a[name] === undefined && b[name] === undefined ? undefined : by(a[name] ?? 0, b[name] ?? 0)
  return defined({
    inputTokens: by(a.inputTokens, b.inputTokens),
    outputTokens: by(a.outputTokens, b.outputTokens),
    requests: part('requests'),
    cacheReadTokens: part('cacheReadTokens'),
    cacheWriteTokens: part('cacheWriteTokens'),
    costUsd: part('costUsd'),
    // It is zero once a figure of the runtime has replaced the estimate, and is left out then.
    estimatedUsd: part('estimatedUsd') || undefined,
  })
}

/** Nothing used yet. */
export const NO_TOTALS: UsageTotals = { inputTokens: 0, outputTokens: 0 }
