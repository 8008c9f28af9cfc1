import type { AgentSession } from './agent-session.ts'
import type { HandoffFlag, HandoffKind } from './handoff.ts'
import { type Instant, later } from './instant.ts'

/** How often and how long a conversation may be restarted in fresh windows. */
export interface RestartBudget {
  readonly maxRestarts: number
  /** Milliseconds across all restarts; absent means no deadline. */
  readonly deadlineMs?: number
  readonly maxCostUsd?: number
  /** `stop` fails the session; `carry_on` leaves the rest to the runtime's own compaction. */
  readonly whenExhausted: 'stop' | 'carry_on'
}

/** Three restarts, then stop. */
export const DEFAULT_RESTART_BUDGET: RestartBudget = { maxRestarts: 3, whenExhausted: 'stop' }

/** What a conversation has used of its budget, as the record says. */
export interface RestartUse {
  /** Restarts that were initiated, whatever became of them. */
  readonly restarts: number
  /** When its first session started: the deadline counts from there. */
  readonly firstStartedAt: Instant
  /** What its sessions and checkpoints cost, as far as their runtimes have said. */
  readonly costUsd: number
  /** The handoff that the session to be restarted began with. */
  readonly cameFrom?: { readonly kind: HandoffKind; readonly flags: readonly HandoffFlag[] }
}

/** What stands against another restart. */
export type BudgetLimit = 'restarts' | 'deadline' | 'cost' | 'no_progress'

/** A session to be restarted, and whether it called any tool. */
export interface SessionToRestart {
  readonly session: AgentSession
  readonly hasToolCalls: boolean
  /** Its process is gone, and its window was not full: how little was done in it says nothing. */
  readonly isLost?: boolean
}

/** Whether a session got anywhere: it used a tool, or brought an exchange to its end and began another. */
export const madeProgress = ({ session, hasToolCalls }: SessionToRestart): boolean =>
  hasToolCalls || Number(session.progress.exchangeStart ?? session.startSequence) > Number(session.startSequence)

/** When the deadline of a conversation is, if it has one. */
export const deadlineOf = ({ deadlineMs }: RestartBudget, firstStartedAt: Instant): Instant | undefined =>
  deadlineMs === undefined ? undefined : later(firstStartedAt, deadlineMs)

/** What of the budget is used up, if anything: then there is no other restart. */
export const exhaustedBy = (
  budget: RestartBudget,
  use: RestartUse,
  restarted: SessionToRestart,
  at: Instant,
): BudgetLimit | undefined => {
  const deadline = deadlineOf(budget, use.firstStartedAt)
  if (use.restarts >= budget.maxRestarts) return 'restarts'
  if (deadline !== undefined && at >= deadline) return 'deadline'
  if (budget.maxCostUsd !== undefined && use.costUsd >= budget.maxCostUsd) return 'cost'
  return restarted.isLost !== true && isGettingNowhere(use, restarted) ? 'no_progress' : undefined
}

/** A fresh window that was full at once, or the second one in a row in which nothing was done. */
const isGettingNowhere = ({ cameFrom }: RestartUse, restarted: SessionToRestart): boolean => {
  if (cameFrom?.kind !== 'context_restart') return false
  const wasFullAtOnce = restarted.session.progress.turns <= 1
  return wasFullAtOnce || (cameFrom.flags.includes('no_progress') && !madeProgress(restarted))
}

const SENTENCES: Readonly<Record<BudgetLimit, (budget: RestartBudget) => string>> = {
  restarts: ({ maxRestarts }) =>
    maxRestarts === 1 ? 'its one restart is used up' : `its ${maxRestarts} restarts are used up`,
  deadline: ({ deadlineMs }) => `its time of ${deadlineMs} ms is over`,
  cost: ({ maxCostUsd }) => `it has cost the ${maxCostUsd} dollars it may`,
  no_progress: () => 'restarting it gets nowhere: its window is full again before anything was done',
}

/** Why a session that is full gets no other window, for a person. */
export const describeLimit = (limit: BudgetLimit, budget: RestartBudget): string =>
  `The context window is full, and the conversation is not restarted: ${SENTENCES[limit](budget)}.`
