import { describeLimit, mayCarryOn } from '../../../domain/budget/restart-budget.ts'
import { isRestartOwed } from '../../../domain/window/context-monitor.ts'
import { hasHooks } from '../call-hooks.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { SessionOutcome } from '../work/session-outcome.ts'
import { type Restarting, restartHeldSession } from '../work/threshold.ts'

/**
 * Begins the restart that a session is owed whose window was full when its run ended: the milestone is spent, so no
 * later turn would begin it. Hooks that decide about full windows have decided already, and may have wanted none.
 *
 * @returns the restart, or the limit that ends the work; nothing when the session goes on in its window
 */
export const owedRestart = async (
  run: Restarting & Pick<RunInProgress, 'hooks'>,
): Promise<SessionOutcome | undefined> => {
  const { monitor } = run.held
  if (monitor === undefined || !isRestartOwed(monitor) || hasHooks(run, 'on_context_threshold')) return undefined
  const { handoff, refusedBy: limit } = await restartHeldSession(run, 'Its window was full when its run ended.', [])
  if (handoff !== undefined) return { type: 'restart', handoff }
  const { restartBudget } = run.conversation
  if (limit === undefined || mayCarryOn(limit, restartBudget)) return undefined
  return { type: 'over', outcome: 'exhausted', reason: describeLimit(limit, restartBudget), limit }
}
