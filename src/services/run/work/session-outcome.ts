import { type BudgetLimit, describeLimit, mayCarryOn } from '../../../domain/budget/restart-budget.ts'
import type { HandoffFlag, HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import { describeRefusal } from '../../../domain/refusal.ts'
import type { BeginRestart, RestartBegun } from '../../../domain/restart/begin-restart.ts'
import type { RunOutcome } from '../../../domain/run/run-summary.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { isRestartOwed } from '../../../domain/window/context-monitor.ts'
import type { TransferAsked } from '../../../ports/agent/agent-runtime.ts'
import { hasHookFor } from '../hooks/hook-calls.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { policyOf } from '../run-window.ts'

/** How the work of a session ended: a handoff is to be carried out, or the run is over. */
export type SessionOutcome =
  | { readonly type: 'restart'; readonly handoff: HandoffMetadata }
  | {
      readonly type: 'over'
      readonly outcome: RunOutcome
      readonly reason?: string
      readonly limit?: BudgetLimit
    }

/**
 * The outcome of an agent that stopped for a fresh window. If it is refused one, the run is exhausted: its work is not
 * done.
 */
export const landed = async (run: Restarting): Promise<SessionOutcome> => {
  const reason = 'The agent brought its work to a soft landing, because its window was filling up.'
  const { handoff, refusedBy } = await restartHeldSession(run, reason, [])
  if (handoff !== undefined) return { type: 'restart', handoff }
  if (refusedBy === undefined) return { type: 'over', outcome: 'failed', reason }
  const { restartBudget } = run.conversation
  return { type: 'over', outcome: 'exhausted', reason: describeLimit(refusedBy, restartBudget), limit: refusedBy }
}

/**
 * The outcome of a window that overflowed. A fresh one begins without a checkpoint: the old one has no room to write
 * it.
 */
export const overflowed = async (
  run: Restarting & Pick<RunInProgress, 'request'>,
  message: string,
): Promise<SessionOutcome> => {
  const { session } = run.held
  const failed: SessionOutcome = { type: 'over', outcome: 'failed', reason: message }
  if (policyOf(run) !== 'auto' || session.progress.turns === 0) return failed
  const { handoff, refusedBy } = await restartHeldSession(run, `The context window overflowed: ${message}`, [
    'window_overflowed',
  ])
  if (handoff !== undefined) return { type: 'restart', handoff }
  if (refusedBy === undefined) return failed
  const { restartBudget } = run.conversation
  const reason = describeLimit(refusedBy, restartBudget)
  return mayCarryOn(refusedBy, restartBudget)
    ? failed
    : { type: 'over', outcome: 'exhausted', reason, limit: refusedBy }
}

/** The parts of a run that begin a restart. */
export type Restarting = RecordOfRun & Pick<RunInProgress, 'held' | 'news' | 'spans'>

/** Begins a restart of the session that a run holds. */
export const restartHeldSession = async (
  run: Restarting,
  reason: string,
  flags: readonly HandoffFlag[],
  options: Pick<BeginRestart, 'failLater'> = {},
): Promise<RestartBegun> => {
  const { traceContext } = run.spans
  const request = {
    ...run.held.working,
    reason,
    flags,
    ...options,
    ...(traceContext !== undefined && { traceContext }),
  }
  const begin = () => run.retryThroughOutage((named) => run.deps.handoffs.restartSession({ ...request, ...named }))
  // A refusal may end the session and release its lease in the same commit: the heartbeat must not take that for a
  // takeover.
  return run.held.givingBack(async () => {
    const begun = unwrap(await begin())
    run.held.update(begun)
    if (begun.refusedBy !== undefined) emitRestartRefused(run, begun.refusedBy)
    return begun
  })
}

/** Emits that the budget allows no restart. */
export const emitRestartRefused = (
  run: Pick<RunInProgress, 'conversation' | 'held' | 'news'>,
  limit: BudgetLimit,
): void => {
  const whenExhausted = mayCarryOn(limit, run.conversation.restartBudget) ? 'carry_on' : 'stop'
  run.news.emit({ type: 'context:restart:refused', sessionId: run.held.session.id, limit, whenExhausted })
}

/** Initiates the handoff that an agent or a hook wished for. If it is refused, the session continues with a warning. */
export const initiateTransfer = async (
  run: Restarting,
  { to: targetAgent, reason, document }: TransferAsked,
): Promise<HandoffMetadata | undefined> => {
  const { traceContext } = run.spans
  const request = { ...run.held.working, targetAgent, ...defined({ reason, document, traceContext }) }
  const begun = await run.retryThroughOutage((named) => run.deps.handoffs.initiateHandoff({ ...request, ...named }))
  if (begun.ok) {
    run.held.update(begun.value)
    return begun.value.handoff
  }
  const message = `The work is not handed to ${inQuotes(targetAgent)}: ${describeRefusal(begun.error)}`
  run.news.emit({ type: 'run:warning', code: 'handoff.refused', message })
  return undefined
}

/**
 * Begins the restart of a resumed session whose window was full when its earlier run ended: its milestone was reached
 * then, so no later turn would begin the restart. Where hooks decide about full windows, they have decided already.
 *
 * @returns the restart, or the limit that ends the run; undefined when the session continues in its window
 */
export const owedRestart = async (
  run: Restarting & Pick<RunInProgress, 'hooks'>,
): Promise<SessionOutcome | undefined> => {
  const { monitor } = run.held
  if (monitor === undefined || !isRestartOwed(monitor) || hasHookFor(run, 'on_context_threshold')) return undefined
  const { handoff, refusedBy: limit } = await restartHeldSession(run, 'Its window was full when its run ended.', [])
  if (handoff !== undefined) return { type: 'restart', handoff }
  const { restartBudget } = run.conversation
  if (limit === undefined || mayCarryOn(limit, restartBudget)) return undefined
  return { type: 'over', outcome: 'exhausted', reason: describeLimit(limit, restartBudget), limit }
}

/** Restarts a session that cannot be resumed. Its agent cannot be asked for a checkpoint. */
export const restartInstead = async (
  run: Restarting,
  reason: string,
  flags: readonly HandoffFlag[] = ['runtime_lost'],
): Promise<SessionOutcome> => {
  const { handoff, refusedBy: limit } = await restartHeldSession(run, reason, flags)
  if (handoff !== undefined) return { type: 'restart', handoff }
  return limit === undefined
    ? { type: 'over', outcome: 'failed', reason }
    : { type: 'over', outcome: 'exhausted', reason, limit }
}
