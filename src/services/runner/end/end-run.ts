import type { BudgetLimit } from '../../../domain/budget/restart-budget.ts'
import { taskOf } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import type { RunOutcome, RunSummary } from '../../../domain/run/run-summary.ts'
import { heldBy, isTerminal } from '../../../domain/session/agent-session.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { callHooks, toldOf } from '../call-hooks.ts'
import { isForAnother } from '../recover/recover.ts'
import { ENDING_OUTAGE_MS } from '../retry-through-outage.ts'
import { AgentSilent, messageOf, RunCancelled, RunExhausted, RunTimedOut, SupersededError } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** How a run ends, and why it did not complete. */
export interface RunEnding {
  readonly outcome: RunOutcome
  readonly reason?: string
  /** The limit that was reached. */
  readonly limit?: BudgetLimit
}

/** The end of a run that an error stopped. */
export const endingOf = (error: unknown): RunEnding => {
  const reason = messageOf(error)
  if (error instanceof RunCancelled) return { outcome: 'cancelled', reason }
  if (error instanceof RunTimedOut) return { outcome: 'timed_out', reason, limit: 'deadline' }
  if (error instanceof AgentSilent) return { outcome: 'timed_out', reason }
  if (error instanceof RunExhausted) return { outcome: 'exhausted', reason, limit: error.limit }
  if (error instanceof SupersededError) return { outcome: 'superseded', reason }
  return { outcome: 'failed', reason }
}

/** Whoever was overtaken meets failures that say no more than that: commands refused, names in use. */
const endingAsHolder = async (run: RunInProgress, ending: RunEnding): Promise<RunEnding> => {
  if (!run.hasSession || isTerminal(run.held.session) || ending.outcome === 'superseded') return ending
  const { session, holder } = run.held
  const renew = () => run.deps.store.leases.renew(session.id, holder, run.leaseMs)
  const isOurs = await run.retryThroughOutage(renew, { outageMs: ENDING_OUTAGE_MS })
  return isOurs ? ending : endingOf(run.overtaken())
}

/**
 * Leaves everything in a state that is legal and starts nothing, tells the hooks, and says what the run came to. Should
 * the store be away, it says so all the same; recovery finishes the rest then.
 */
export const endRun = async (run: RunInProgress, given: RunEnding): Promise<RunSummary> => {
  run.isSettling = true
  let ending = withoutSecrets(run, given)
  let failure: unknown
  try {
    ending = await endingAsHolder(run, ending)
    if (run.hasSession && ending.outcome !== 'superseded') await settle(run, ending)
  } catch (error) {
    failure = error
    ending = withoutSecrets(run, endingOf(error))
  }
  const summary = summaryOf(run, ending)
  if (run.hasSession) tellSessionEnd(run, ending)
  const toldId = run.hasSession ? run.held.session.id : run.plannedId
  if (toldId !== undefined && ending.outcome !== 'superseded' && failure === undefined)
    await tellHooks(run, ending, toldId).catch((error: unknown) => {
      failure = error
    })
  run.emit({ type: 'run:end', summary })
  if (failure !== undefined) throw failure
  return summary
}

const withoutSecrets = ({ deps }: RunInProgress, { reason, ...ending }: RunEnding): RunEnding =>
  defined({ ...ending, reason: reason === undefined ? undefined : (deps.redact?.(reason) ?? reason) })

const tellSessionEnd = (run: RunInProgress, { outcome, reason }: RunEnding): void => {
  const { session } = run.held
  if (outcome === 'superseded') run.emit({ type: 'session:replaced', sessionId: session.id })
  else run.emit({ type: 'session:end', sessionId: session.id, state: session.state, reason: reason ?? null })
  run.span?.end(defined({ outcome, error: outcome === 'completed' ? undefined : reason }))
}

/** Limits after which a later run may go on in the same window, once it is allowed more. */
const PAUSED_FOR: readonly (BudgetLimit | undefined)[] = ['cost', 'turns']

const settle = async (run: RunInProgress, { outcome, reason = outcome, limit }: RunEnding): Promise<void> => {
  const { handoffs, history } = run.deps
  const keep = <T>(command: Parameters<typeof run.retryThroughOutage<T>>[0]) =>
    run.retryThroughOutage(command, { outageMs: ENDING_OUTAGE_MS })
  const now = await keep(() => history.session(run.held.session.id))
  run.update({ session: now ?? run.held.session })
  // Handed to another agent, it is no longer ours to end.
  if (now === undefined || isTerminal(now) || (await isForAnother(run.deps, now))) return
  const handoffId = heldBy(now)
  if (handoffId !== undefined) {
    const end = { handoff: handoffId, reason, by: run.claimant, holder: run.held.holder }
    const ended = await keep((named) =>
      outcome === 'cancelled'
        ? handoffs.cancelHandoff({ ...end, ...named })
        : handoffs.failHandoff({ ...end, ...named }),
    )
    // Somebody else has claimed it. Whoever that is completes it, or lets the claim lapse for recovery.
    if (!ended.ok) return
    run.update(ended.value)
    run.emit({ type: 'context:handoff:cancelled', handoffId, reason })
  }
  const { held } = run
  if (held.session.state !== 'active') return
  const left = await keep((named) => {
    if (outcome === 'completed') return handoffs.completeSession({ ...held, ...named })
    if (outcome === 'cancelled' || PAUSED_FOR.includes(limit)) return handoffs.pauseSession({ ...held, ...named })
    return handoffs.failSession({ ...held, reason, ...defined({ limit }), ...named })
  })
  run.update(unwrap(left))
}

const summaryOf = (run: RunInProgress, { outcome, reason, limit }: RunEnding): RunSummary => {
  const { sessions, turns, restarts, totals } = run.tally
  return defined({
    conversationId: run.conversation.id,
    outcome,
    reason,
    limit,
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
  const about = { session: toldOf(run, sessionId), original_prompt: taskOf(run.conversation) }
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
