import type { BudgetUse } from '../../domain/budget/restart-budget.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { RestartUse } from '../../domain/restart/restart-use.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { Tables } from './tables.ts'

/** Adds up what a conversation has used of its budget, going by its record. */
export const budgetUse = (tables: Tables, conversationId: ConversationId): BudgetUse => {
  const handoffs = tables.handoffs.in('conversation', conversationId)
  const sessions = tables.sessions.in('conversation', conversationId).map(({ session }) => session)
  const costs = [
    ...sessions.map(({ totals }) => totals?.costUsd ?? 0),
    ...handoffs.map(({ checkpoint }) => checkpoint?.totals?.costUsd ?? 0),
  ]
  return defined({
    restarts: handoffs.filter(({ kind }) => kind === 'context_restart').length,
    takeovers: sessions.reduce((sum, { takeovers = 0 }) => sum + takeovers, 0),
    costUsd: costs.reduce((sum, cost) => sum + cost, 0),
    firstStartedAt: sessions.find(({ epoch }) => epoch === 1)?.startedAt,
  })
}

/** The same, and the handoff that a session to be restarted came from. */
export const restartUse = (
  tables: Tables,
  { conversationId, initiatedByHandoff, startedAt }: AgentSession,
): RestartUse => {
  const cameFrom = tables.handoffs.get(initiatedByHandoff ?? '')
  return {
    firstStartedAt: startedAt,
    ...budgetUse(tables, conversationId),
    // A thread's first session came from a handoff of its parent's, which is no restart.
    ...(cameFrom?.conversationId === conversationId && { cameFrom: { kind: cameFrom.kind, flags: cameFrom.flags } }),
  }
}
