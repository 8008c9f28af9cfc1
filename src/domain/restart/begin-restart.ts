import { type BudgetLimit, describeLimit, mayCarryOn, useSince } from '../budget/restart-budget.ts'
import { type Decided, expecting } from '../decision.ts'
import type { SourceFacts } from '../facts.ts'
import type { HandoffFlag, HandoffMetadata, TraceContext } from '../handoff/handoff.ts'
import { initiateHandoff, type NewHandoffIds, notNow } from '../handoff/initiate-handoff.ts'
import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok } from '../kernel/result.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { findHeld, type HeldTarget } from '../session/change-session.ts'
import { decideSession, evolveSession } from '../session/session-lifecycle.ts'
import type { ContextMonitor, RestartRefused } from '../window/context-monitor.ts'
import { exhaustedBy, madeProgress } from './restart-use.ts'

/** What it takes to restart a session in a fresh window. */
export interface BeginRestart extends HeldTarget {
  readonly reason?: string
  readonly flags?: readonly HandoffFlag[]
  readonly traceContext?: TraceContext
  /** When the budget allows no restart, the holder fails the session itself, once what it still says is recorded. */
  readonly failLater?: boolean
}

/** What beginning a restart answers with: the handoff, or what the budget has against it. */
export interface RestartBegun {
  readonly session: AgentSession
  readonly monitor?: ContextMonitor
  readonly handoff?: HandoffMetadata
  /** Nothing was initiated: this part of the budget is used up. */
  readonly refusedBy?: BudgetLimit
}

/**
 * Begins a restart: a `context_restart` handoff to the same agent. With the budget used up there is none; the session is
 * failed, or left alone when the budget says to carry on or its holder fails it later.
 */
export const beginRestart = (
  facts: SourceFacts,
  request: BeginRestart,
  { ids, at }: { readonly ids: NewHandoffIds; readonly at: Instant },
): Decided<RestartBegun> => {
  const found = findHeld(facts, request)
  if (!found.ok) return found
  const { conversation, restarts, exchangeToolCalls, lastToolCalls } = facts
  if (conversation === undefined || restarts === undefined)
    return err({ code: 'session.not_found', sessionId: request.sessionId })
  const { session } = found.value
  // Whoever cannot be handed off now is told so; the budget is for those who can.
  const held = decideSession(session, { type: 'hold', handoffId: ids.handoffId, at })
  if (!held.ok) return err(notNow(session, held.error))
  const hasToolCalls = exchangeToolCalls.length > 0 || lastToolCalls.length > 0
  const restarted = { session, hasToolCalls, isLost: request.flags?.includes('runtime_lost') ?? false }
  const limit = exhaustedBy(conversation.restartBudget, useSince(restarts, conversation.asked), restarted, at)
  if (limit !== undefined) return refuseRestart(facts, limit, { isLeftOpen: request.failLater === true, at })
  const flags = [...(request.flags ?? []), ...(madeProgress(restarted) ? [] : (['no_progress'] as const))]
  const described = { ...request, kind: 'context_restart' as const, targetAgent: session.agentName, flags }
  return initiateHandoff(facts, described, { ids, at })
}

const refuseRestart = (
  facts: SourceFacts,
  limit: BudgetLimit,
  { isLeftOpen, at }: { readonly isLeftOpen: boolean; readonly at: Instant },
): Decided<RestartBegun> => {
  const { working, conversation, monitor } = facts
  if (working === undefined || conversation === undefined) throw new TypeError('A restart is refused to nobody')
  const { session, holder } = working
  const { restartBudget: budget } = conversation
  const about = { version: 1, conversationId: session.conversationId, sessionId: session.id, at } as const
  const refused: RestartRefused = {
    type: 'context.restart_refused',
    ...about,
    limit,
    whenExhausted: mayCarryOn(limit, budget) ? 'carry_on' : 'stop',
  }
  if (mayCarryOn(limit, budget) || isLeftOpen) {
    const unmoved = { type: 'expect_session' as const, session, expected: expecting(working) }
    return ok({
      changes: [unmoved],
      events: [refused],
      answer: defined({ session, monitor, refusedBy: limit }),
    })
  }
  const failed = decideSession(session, { type: 'fail', reason: describeLimit(limit, budget), limit, at })
  if (!failed.ok) return failed
  const ended = evolveSession(session, failed.value)
  return ok({
    changes: [
      { type: 'move_session', working: { session: ended, holder }, expected: expecting(working) },
      { type: 'drop_lease', session },
    ],
    events: [refused, failed.value],
    answer: defined({ session: ended, monitor, refusedBy: limit }),
  })
}
