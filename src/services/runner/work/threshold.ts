import { type BudgetLimit, mayCarryOn } from '../../../domain/budget/restart-budget.ts'
import { taskOf } from '../../../domain/conversation/conversation.ts'
import type { HandoffFlag } from '../../../domain/handoff/handoff.ts'
import { type ThresholdOutcome, thresholdOutcome } from '../../../domain/hooks/hook-answer.ts'
import type { BeginRestart, RestartBegun } from '../../../domain/restart/begin-restart.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { hookContext } from '../../../ports/hook-payload.ts'
import { callHooks, hasHooks, toldOf } from '../call-hooks.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/**
 * The decision of threshold hooks about a full window: they replace the built-in restart. A hook that says `continue` lets the
 * session run on; one that ends well without saying so wants a new session, without a checkpoint.
 *
 * @returns the restart that was begun, or what stood against it; nothing when the session runs on
 */
export const decideByHooks = async (run: RunInProgress): Promise<RestartBegun | undefined> => {
  if (run.policy === 'manual' || !hasHooks(run, 'on_context_threshold')) return undefined
  const outcome = await askHooks(run)
  // A hook that was cut off has decided nothing.
  run.throwIfStopped()
  if (outcome === 'continue') return undefined
  if (outcome === 'built_in_restart' && run.policy !== 'auto') return undefined
  const reason =
    outcome === 'new_session'
      ? 'A threshold hook asked for a new session.'
      : 'The context window is full, and no threshold hook had a say.'
  const flags = outcome === 'new_session' ? (['decided_by_hook'] as const) : []
  // The tools of the turn that crossed may still have something to say.
  return restartHeldSession(run, reason, flags, { failLater: true })
}

/** Begins a restart of the session that a run holds. */
export const restartHeldSession = async (
  run: RunInProgress,
  reason: string,
  flags: readonly HandoffFlag[],
  options: Pick<BeginRestart, 'failLater'> = {},
): Promise<RestartBegun> => {
  const traceContext = run.span?.traceContext
  const request = { ...run.held, reason, flags, ...options, ...(traceContext !== undefined && { traceContext }) }
  const begun = unwrap(
    await run.retryThroughOutage((named) => run.deps.handoffs.restartSession({ ...request, ...named })),
  )
  run.update(begun)
  if (begun.refusedBy !== undefined) tellRefused(run, begun.refusedBy)
  return begun
}

/** Says that the budget allows no restart. */
export const tellRefused = (run: RunInProgress, limit: BudgetLimit): void => {
  const whenExhausted = mayCarryOn(limit, run.conversation.restartBudget) ? 'carry_on' : 'stop'
  run.emit({ type: 'context:restart:refused', sessionId: run.held.session.id, limit, whenExhausted })
}

const askHooks = async (run: RunInProgress): Promise<ThresholdOutcome> => {
  const { session } = run.held
  const { inputTokens, contextWindow, usagePercent } = run.figures()
  const model = run.model ?? session.model
  const context = hookContext({
    // Where all that is known is a percentage, it is told as hundredths of a window.
    inputTokens: inputTokens ?? Math.round((usagePercent ?? 0) * 100),
    contextWindow: contextWindow ?? 100,
    ...(model !== undefined && { modelName: model }),
  })
  const report = await callHooks(run, 'on_context_threshold', session.id, {
    hook_event_name: 'context_threshold',
    context,
    session: toldOf(run, session.id),
    original_prompt: taskOf(run.conversation),
  })
  return thresholdOutcome(report.results)
}
