import type { AgentSessionId, ConversationId } from './ids.ts'
import type { UsageTotals } from './usage-reading.ts'

/**
 * How a run ended: its work done; broken; called off; out of time; out of restarts; or overtaken by somebody who works the
 * session now.
 */
export type RunOutcome = 'completed' | 'failed' | 'cancelled' | 'timed_out' | 'exhausted' | 'superseded'

/** What a run came to, over all its sessions. */
export interface RunSummary {
  readonly conversationId: ConversationId
  readonly outcome: RunOutcome
  /** Why it did not complete. */
  readonly reason?: string
  readonly sessions: number
  readonly turns: number
  readonly restarts: number
  /** What it used in sum, checkpoints included, as far as the runtime has said. */
  readonly totals: UsageTotals
  readonly durationMs: number
  readonly lastSessionId?: AgentSessionId
}

/** Two sums in one. */
export const addTotals = (a: UsageTotals, b: UsageTotals | undefined): UsageTotals => {
  if (b === undefined) return a
  const requests =
    a.requests === undefined && b.requests === undefined ? {} : { requests: (a.requests ?? 0) + (b.requests ?? 0) }
  const costUsd =
    a.costUsd === undefined && b.costUsd === undefined ? {} : { costUsd: (a.costUsd ?? 0) + (b.costUsd ?? 0) }
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...requests,
    ...costUsd,
  }
}

/** Nothing used yet. */
export const NO_TOTALS: UsageTotals = { inputTokens: 0, outputTokens: 0 }
