import { type BudgetLimit, describeLimit, describeStop, mayCarryOn } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { RunOutcome } from '../../../domain/run/run-summary.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import type { RuntimeEnd } from '../../../ports/agent/agent-runtime.ts'
import { policyOf, type RunInProgress } from '../run-in-progress.ts'
import { openThreads } from '../threads/open-threads.ts'
import { uncountedEnd } from './limits.ts'
import { passedOn } from './passed-on.ts'
import { type Restarting, restartHeldSession } from './threshold.ts'
import type { TurnRecorder } from './turn-recorder.ts'

/** How the work of a session came to its end. */
export type SessionOutcome =
  | { readonly type: 'restart'; readonly handoff: HandoffMetadata }
  | {
      readonly type: 'over'
      readonly outcome: RunOutcome
      readonly reason?: string
      readonly limit?: BudgetLimit
    }

/** Concludes the work of a session from how its agent ended, and why it was to be left. */
export const concludeSession = async (
  run: RunInProgress,
  recorder: TurnRecorder,
  end: RuntimeEnd,
): Promise<SessionOutcome> => {
  const { leaving } = recorder
  if (leaving?.type === 'exhausted') {
    const { limit, isRefused = false } = leaving
    const { restartBudget } = run.conversation
    await recorder.finish()
    const reason = isRefused ? describeLimit(limit, restartBudget) : describeStop(limit, restartBudget)
    // It may have done its work with the request that reached the limit.
    return !isRefused && end.type === 'idle'
      ? { type: 'over', outcome: 'completed' }
      : { type: 'over', outcome: 'exhausted', reason, limit }
  }
  if (leaving?.type === 'uncounted') {
    await recorder.finish()
    throw uncountedEnd(run, leaving.uncounted)
  }
  if (leaving?.type === 'restart') {
    // It went on and finished before it could be interrupted: then there is nothing left to restart for, unless it landed.
    const isFinal = leaving.handoff.kind !== 'context_restart'
    if (isFinal || end.type !== 'idle' || !recorder.hasMore || recorder.hasLanded) {
      // It counts on the threads that it asked for before its session was to be left.
      await openThreads(run)
      return leaving
    }
    await cancelRestart(run, leaving.handoff)
    recorder.stay()
  }
  await recorder.finish()
  const passed = recorder.leaving?.type === 'restart' ? recorder.leaving.handoff : await passedOn(run)
  if (passed !== undefined) return { type: 'restart', handoff: passed }
  switch (end.type) {
    case 'idle':
      return recorder.hasLanded ? landed(run) : { type: 'over', outcome: 'completed' }
    case 'interrupted':
      return { type: 'over', outcome: 'cancelled', reason: 'The agent was interrupted.' }
    case 'overflow':
      return overflowed(run, end.message)
    case 'failed':
      return { type: 'over', outcome: 'failed', reason: end.message }
    default:
      return end satisfies never
  }
}

const cancelRestart = async (run: Restarting, handoff: HandoffMetadata): Promise<void> => {
  const reason = 'The work was finished before a fresh window was needed.'
  const end = { handoff, reason, holder: run.held.holder }
  run.held.update(
    unwrap(await run.retryThroughOutage((named) => run.deps.handoffs.cancelHandoff({ ...end, ...named }))),
  )
  run.news.emit({ type: 'context:handoff:cancelled', handoffId: handoff.id, reason })
}

/** It stopped for a fresh window. One that cannot be had ends the work here, and the work is not done. */
const landed = async (run: Restarting): Promise<SessionOutcome> => {
  const reason = 'The agent brought its work to a soft landing, because its window was filling up.'
  const { handoff, refusedBy } = await restartHeldSession(run, reason, [])
  if (handoff !== undefined) return { type: 'restart', handoff }
  if (refusedBy === undefined) return { type: 'over', outcome: 'failed', reason }
  const { restartBudget } = run.conversation
  return { type: 'over', outcome: 'exhausted', reason: describeLimit(refusedBy, restartBudget), limit: refusedBy }
}

/** The window took no more. The work continues in a fresh one without a checkpoint: the old one has no room to write it. */
const overflowed = async (
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
