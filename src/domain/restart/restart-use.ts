import { type BudgetLimit, type BudgetUse, deadlineOf, isSpent, type RestartBudget } from '../budget/restart-budget.ts'
import type { HandoffFlag, HandoffKind } from '../handoff/handoff.ts'
import type { Instant } from '../kernel/instant.ts'
import { type AgentSession, exchangeStartOf } from '../session/agent-session.ts'

/** The used part of a conversation's budget when one of its sessions is to be restarted. */
export interface RestartUse extends BudgetUse {
  readonly firstStartedAt: Instant
  /** The handoff that the session to be restarted began with. */
  readonly cameFrom?: { readonly kind: HandoffKind; readonly flags: readonly HandoffFlag[] }
}

/** A session to be restarted, and whether it called any tool. */
export interface SessionToRestart {
  readonly session: AgentSession
  readonly hasToolCalls: boolean
  /** Its process is gone, and its window was not full: how little was done in it says nothing. */
  readonly isLost?: boolean
}

/** Whether a session got anywhere: it used a tool, or brought an exchange to its end and began another. */
export const madeProgress = ({ session, hasToolCalls }: SessionToRestart): boolean =>
  hasToolCalls || exchangeStartOf(session) > session.startSequence

/** The budget limit that is used up, if any: then there is no other restart. */
export const exhaustedBy = (
  budget: RestartBudget,
  use: RestartUse,
  restarted: SessionToRestart,
  at: Instant,
): BudgetLimit | undefined => {
  const deadline = deadlineOf(budget, use.firstStartedAt)
  if (use.restarts >= budget.maxRestarts) return 'restarts'
  if (deadline !== undefined && at >= deadline) return 'deadline'
  if (isSpent(budget, use)) return 'cost'
  return restarted.isLost !== true && isGettingNowhere(use, restarted) ? 'no_progress' : undefined
}

/** A fresh window that was full at once, or the second one in a row in which nothing was done. */
const isGettingNowhere = ({ cameFrom }: RestartUse, restarted: SessionToRestart): boolean => {
  if (cameFrom?.kind !== 'context_restart') return false
  const wasFullAtOnce = restarted.session.progress.turns <= 1
  return wasFullAtOnce || (cameFrom.flags.includes('no_progress') && !madeProgress(restarted))
}
