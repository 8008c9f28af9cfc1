import { heldBy, isTerminal } from '../../domain/agent-session.ts'
import { defined } from '../../domain/defined.ts'
import type { AgentSessionId } from '../../domain/ids.ts'
import type { RunOutcome, RunSummary } from '../../domain/run-summary.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { callHooks, toldOf } from './call-hooks.ts'
import { messageOf, RunCancelled, RunTimedOut, SupersededError } from './run-errors.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** How a run ends, and why it did not complete. */
export interface RunEnding {
  readonly outcome: RunOutcome
  readonly reason?: string
}

/** What an error that stopped a run makes of it. */
export const endingOf = (error: unknown): RunEnding => {
  const reason = messageOf(error)
  if (error instanceof RunCancelled) return { outcome: 'cancelled', reason }
  if (error instanceof RunTimedOut) return { outcome: 'timed_out', reason }
  if (error instanceof SupersededError) return { outcome: 'superseded', reason }
  return { outcome: 'failed', reason }
}

/** Whoever was overtaken meets failures that say no more than that: commands refused, names in use. */
const endingAsHolder = async (run: RunInProgress, ending: RunEnding): Promise<RunEnding> => {
  if (ending.outcome !== 'failed' || !run.hasSession) return ending
  const { session, holder } = run.held
  return (await run.deps.store.leases.renew(session.id, holder, run.leaseMs)) ? ending : endingOf(run.overtaken())
}

/** Leaves everything in a state that is legal and starts nothing, tells the hooks, and says what the run came to. */
export const endRun = async (run: RunInProgress, given: RunEnding): Promise<RunSummary> => {
  run.isSettling = true
  const ending = await endingAsHolder(run, given)
  if (run.hasSession && ending.outcome !== 'superseded') await settle(run, ending)
  const summary = summaryOf(run, ending)
  if (run.hasSession) {
    const { session } = run.held
    if (ending.outcome === 'superseded') run.emit({ type: 'session:replaced', sessionId: session.id })
    else run.emit({ type: 'session:end', sessionId: session.id, state: session.state, reason: ending.reason ?? null })
    run.span?.end(
      defined({ outcome: ending.outcome, error: ending.outcome === 'completed' ? undefined : ending.reason }),
    )
    if (ending.outcome !== 'superseded') await tellHooks(run, ending, session.id)
  }
  run.emit({ type: 'run:end', summary })
  return summary
}

const settle = async (run: RunInProgress, { outcome, reason = outcome }: RunEnding): Promise<void> => {
  const { handoffs } = run.deps
  const now = await handoffs.session(run.held.session.id)
  if (now === undefined || isTerminal(now)) return run.update({ session: now ?? run.held.session })
  run.update({ session: now })
  const handoffId = heldBy(now)
  if (handoffId !== undefined) {
    const end = { handoff: handoffId, reason, by: run.claimant, holder: run.held.holder }
    const ended = outcome === 'cancelled' ? await handoffs.cancelHandoff(end) : await handoffs.failHandoff(end)
    run.update(unwrap(ended))
    run.emit({ type: 'context:handoff:cancelled', handoffId, reason })
  }
  const { held } = run
  if (held.session.state !== 'active') return
  if (outcome === 'completed') run.update(unwrap(await handoffs.completeSession(held)))
  else if (outcome === 'cancelled') run.update(unwrap(await handoffs.pauseSession(held)))
  else run.update(unwrap(await handoffs.failSession({ ...held, reason })))
}

const summaryOf = (run: RunInProgress, { outcome, reason }: RunEnding): RunSummary => {
  const { sessions, turns, restarts, totals } = run.tally
  return defined({
    conversationId: run.conversation.id,
    outcome,
    reason,
    sessions,
    turns,
    restarts,
    totals,
    durationMs: Math.round(performance.now() - run.startedMs),
    lastSessionId: run.hasSession ? run.held.session.id : undefined,
  })
}

const HOOK_EVENT = {
  completed: 'completed',
  cancelled: 'cancelled',
  timed_out: 'timeout',
  failed: 'failed',
  exhausted: 'failed',
  superseded: 'cancelled',
} as const satisfies Record<RunOutcome, string>

const tellHooks = async (
  run: RunInProgress,
  { outcome, reason }: RunEnding,
  sessionId: AgentSessionId,
): Promise<void> => {
  const about = { session: toldOf(run, sessionId), original_prompt: run.conversation.originalTask }
  const event = HOOK_EVENT[outcome]
  if (event === 'failed' || event === 'timeout') {
    const error = { code: `run.${outcome}`, message: reason ?? outcome }
    await callHooks(run, 'on_error', sessionId, { hook_event_name: event, error, ...about })
  }
  const { tally, startedMs } = run
  const told = {
    duration_ms: Math.round(performance.now() - startedMs),
    handoff_count: tally.restarts,
    error: reason ?? null,
  }
  await callHooks(run, 'after_run', sessionId, { hook_event_name: event, run: told, ...about })
}
