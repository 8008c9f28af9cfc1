import {
  type BudgetLimit,
  describeLimit,
  isPausedFor,
  mayCarryOn,
  type RestartBudget,
  useSince,
} from '../budget/restart-budget.ts'
import { type Decided, type DecisionDraft, newDraft } from '../decision.ts'
import type { SourceFacts } from '../facts.ts'
import type { HandoffFlag, HandoffMetadata, TraceContext } from '../handoff/handoff.ts'
import { decideHold, describeHandoff, holdFor, type NewHandoffIds } from '../handoff/initiate-handoff.ts'
import { leadingCalls } from '../handoff/leading-calls.ts'
import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import type { Refusal } from '../refusal.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { findHeld, type HeldTarget } from '../session/change-session.ts'
import { SESSION } from '../session/session-aggregate.ts'
import { dropLease } from '../session/session-lease.ts'
import type { StoredSession } from '../session/stored-session.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import { exhaustedBy, madeProgress } from './restart-use.ts'

/** A request to restart a session in a fresh window. */
export interface BeginRestart extends HeldTarget {
  readonly reason?: string
  readonly flags?: readonly HandoffFlag[]
  readonly traceContext?: TraceContext
  /** When the budget allows no restart, the holder ends the session itself, once what it still says is recorded. */
  readonly failLater?: boolean
}

/** The answer to beginning a restart: the handoff, or the budget limit that refused it. */
export interface RestartBegun {
  readonly session: AgentSession
  readonly monitor?: ContextMonitor
  readonly handoff?: HandoffMetadata
  /** Nothing was initiated: this part of the budget is used up. */
  readonly refusedBy?: BudgetLimit
}

/** The ids and the time of a restart. */
export interface RestartContext {
  readonly ids: NewHandoffIds
  readonly at: Instant
}

/**
 * Begins a restart: a `context_restart` handoff to the same agent. With the budget used up there is none; the session is
 * failed, paused when it was the money, or left alone when the budget says to carry on or its holder ends it later.
 */
export const beginRestart = (
  facts: SourceFacts,
  request: BeginRestart,
  context: RestartContext,
): Decided<RestartBegun> => {
  const draft = newDraft()
  const begun = restartOn(draft, facts, request, context)
  return begun.ok ? draft.finish(defined({ ...begun.value, monitor: facts.monitor })) : begun
}

/** Begins a restart of a session as the draft has left it. */
export const restartOn = (
  draft: DecisionDraft,
  facts: SourceFacts,
  request: BeginRestart,
  { ids, at }: RestartContext,
): Result<RestartBegun, Refusal> => {
  const found = findHeld(facts, request)
  if (!found.ok) return found
  const { conversation, restarts } = facts
  if (conversation === undefined || restarts === undefined)
    return err({ code: 'session.not_found', sessionId: request.sessionId })
  const { session } = draft.read(SESSION, found.value)
  // A session that cannot be handed off now is refused first; the budget is checked only for one that can.
  const held = decideHold(session, { handoffId: ids.handoffId, at })
  if (!held.ok) return held
  const hasToolCalls = leadingCalls(facts).length > 0
  const restarted = { session, hasToolCalls, isLost: request.flags?.includes('runtime_lost') ?? false }
  const { restartBudget: budget } = conversation
  const limit = exhaustedBy(budget, useSince(restarts, conversation.asked), restarted, at)
  if (limit !== undefined)
    return refuseRestart(draft, found.value, { limit, budget, isLeftOpen: request.failLater === true, at })
  const flags = [...(request.flags ?? []), ...(madeProgress(restarted) ? [] : (['no_progress'] as const))]
  const described = { ...request, kind: 'context_restart' as const, targetAgent: session.agentName, flags }
  const initiated = describeHandoff(facts, session, described, { id: ids.handoffId, at })
  if (!initiated.ok) return initiated
  return ok(holdFor(draft, found.value, { initiated: initiated.value, held: held.value }, { ids, at }))
}

/** A restart that the budget does not allow. */
interface RefusedRestart {
  readonly limit: BudgetLimit
  readonly budget: RestartBudget
  /** Its holder ends the session itself, later. */
  readonly isLeftOpen: boolean
  readonly at: Instant
}

const refuseRestart = (
  draft: DecisionDraft,
  working: StoredSession,
  { limit, budget, isLeftOpen, at }: RefusedRestart,
): Result<RestartBegun, Refusal> => {
  const { session } = draft.read(SESSION, working)
  const about = { version: 1, conversationId: session.conversationId, sessionId: session.id, at } as const
  const whenExhausted = mayCarryOn(limit, budget) ? 'carry_on' : 'stop'
  draft.log({ type: 'context.restart_refused', ...about, limit, whenExhausted })
  if (whenExhausted === 'carry_on' || isLeftOpen) {
    draft.guard(SESSION, working)
    return ok({ session, refusedBy: limit })
  }
  const end = isPausedFor(limit)
    ? ({ type: 'pause', at } as const)
    : ({ type: 'fail', reason: describeLimit(limit, budget), limit, at } as const)
  const ended = draft.apply(SESSION, working, end)
  if (!ended.ok) return ended
  dropLease(draft, session)
  return ok({ session: ended.value.session, refusedBy: limit })
}
