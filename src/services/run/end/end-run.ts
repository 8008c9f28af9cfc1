import { type BudgetLimit, isPausedFor } from '../../../domain/budget/restart-budget.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { isEveryWriteRefused } from '../../../domain/run/refused-tools.ts'
import type { RunOutcome, RunSummary } from '../../../domain/run/run-summary.ts'
import { hasBaton, heldBy, isTerminal } from '../../../domain/session/agent-session.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { mustNotBeSetBack } from '../../commands/answered.ts'
import { isSetBack } from '../../commands/set-back.ts'
import { callHooks, type HookCaller, hookSessionOf } from '../hooks/hook-calls.ts'
import { isForAnother } from '../recover/recovery.ts'
import { ENDING_OUTAGE_MS } from '../retry-through-outage.ts'
import { AgentSilent, messageOf, RunCancelled, RunExhausted, RunTimedOut, SupersededError } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** A lease of this length expires at once. */
const SHORTEST_LEASE_MS = 1

/** How a run ends, and why it did not complete. */
export interface RunEnding {
  readonly outcome: RunOutcome
  readonly reason?: string
  /** The limit that was reached. */
  readonly limit?: BudgetLimit
  /** Whether the session stays active without a holder, so that another process resumes it. */
  readonly isHandedBack?: boolean
  /** The failure of a store that was set back: nothing more is stored, and the run fails with it. */
  readonly setBack?: StoreFailure
}

/** The end of a run that an error stopped. */
export const endingOf = (error: unknown): RunEnding => {
  const reason = messageOf(error)
  if (isSetBack(error)) return { outcome: 'failed', reason, setBack: error }
  if (error instanceof RunCancelled) return { outcome: 'cancelled', reason, isHandedBack: error.isHandedBack }
  if (error instanceof RunTimedOut) return { outcome: 'timed_out', reason, limit: 'deadline' }
  if (error instanceof AgentSilent) return { outcome: 'timed_out', reason }
  if (error instanceof RunExhausted) return { outcome: 'exhausted', reason, limit: error.limit }
  if (error instanceof SupersededError) return { outcome: 'superseded', reason }
  // The work did not cause an outage of the store: the session stays active, and the process that next reaches the
  // store resumes it.
  return { outcome: 'failed', reason, isHandedBack: error instanceof StoreFailure && error.retryable }
}

/**
 * The ending of a run, or `superseded` if the run has lost its session. A process whose session was taken over fails in
 * other ways first, such as refused commands and names in use, and those are not the cause.
 */
const endingAsHolder = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'retryThroughOutage'>,
  ending: RunEnding,
): Promise<RunEnding> => {
  // A session that was failed or paused with a refused restart has no lease, and nobody took it over: it has no baton.
  if (ending.outcome === 'superseded') return mustStillBeThere(run, ending)
  if (!run.held.isThere || !hasBaton(run.held.session)) return ending
  const { session, holder } = run.held
  const renew = () => run.deps.store.leases.renew(session.id, holder, run.lease.leaseMs)
  const isOurs = await run.retryThroughOutage(renew, { outageMs: ENDING_OUTAGE_MS })
  if (isOurs) return ending
  const current = await run.retryThroughOutage(() => run.deps.history.session(session.id), {
    outageMs: ENDING_OUTAGE_MS,
  })
  const isTakenUp = ending.outcome === 'handed_over' && current?.state === 'handed_off'
  return isTakenUp ? ending : mustStillBeThere(run, endingOf(run.held.supersededError()))
}

/**
 * Fails if the store was set back: then nobody took the session over, but the store lost it or an earlier holder is
 * back.
 */
const mustStillBeThere = async (
  { deps, held, retryThroughOutage }: Pick<RunInProgress, 'deps' | 'held' | 'retryThroughOutage'>,
  ending: RunEnding,
): Promise<RunEnding> => {
  if (!held.isThere) return ending
  const question = { about: 'session', sessionId: held.session.id } as const
  await retryThroughOutage(() => mustNotBeSetBack(deps.store, question), { outageMs: ENDING_OUTAGE_MS })
  return ending
}

/**
 * Ends a run: settles its handoff and session, calls the hooks, and emits the summary. Should the store be away, the
 * summary is emitted all the same, and recovery settles the session later.
 */
export const endRun = async (run: RunInProgress, given: RunEnding): Promise<RunSummary> => {
  run.held.beginToEnd()
  let ending = withoutSecrets(run, withRefusedWrites(run, given))
  let failure: unknown = given.setBack
  try {
    if (failure === undefined) ending = await endingAsHolder(run, ending)
    if (failure === undefined && run.held.isThere && ending.outcome !== 'superseded') await settle(run, ending)
  } catch (error) {
    failure = error
    ending = withoutSecrets(run, endingOf(error))
  }
  const summary = summaryOf(run, ending)
  if (run.held.isThere) emitSessionEnd(run, ending)
  const { id: sessionId } = run.held
  if (sessionId !== undefined && ending.outcome !== 'superseded' && failure === undefined)
    await callEndHooks(run, ending, sessionId).catch((error: unknown) => {
      failure = error
    })
  run.news.emit({ type: 'run:end', summary })
  if (failure !== undefined) throw failure
  return summary
}

/** An agent that answered, but whose every attempt to change a file was refused, has not done its work. */
const withRefusedWrites = ({ account }: Pick<RunInProgress, 'account'>, ending: RunEnding): RunEnding => {
  const { refusedTools, writes } = account.figures()
  if (ending.outcome !== 'completed' || !isEveryWriteRefused(refusedTools, writes)) return ending
  return { outcome: 'writes_refused', reason: 'The agent was allowed to change no file: every attempt was refused.' }
}

const withoutSecrets = ({ deps }: Pick<RunInProgress, 'deps'>, { reason, ...ending }: RunEnding): RunEnding =>
  defined({ ...ending, reason: reason === undefined ? undefined : (deps.redact?.(reason) ?? reason) })

const emitSessionEnd = (run: Pick<RunInProgress, 'held' | 'news' | 'spans'>, { outcome, reason }: RunEnding): void => {
  const { session } = run.held
  if (outcome === 'superseded') run.news.emit({ type: 'session:replaced', sessionId: session.id })
  else run.news.emit({ type: 'session:end', sessionId: session.id, state: session.state, reason: reason ?? null })
  run.spans.end(defined({ outcome, error: outcome === 'completed' ? undefined : reason }))
}

const settle = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'news' | 'agents' | 'retryThroughOutage'>,
  { outcome, reason = outcome, limit, isHandedBack = false }: RunEnding,
): Promise<void> => {
  const { handoffs, history } = run.deps
  const retried = <T>(command: Parameters<typeof run.retryThroughOutage<T>>[0]) =>
    run.retryThroughOutage(command, { outageMs: ENDING_OUTAGE_MS })
  const current = await retried(() => history.session(run.held.session.id))
  if (current === undefined) return void (await mustStillBeThere(run, { outcome }))
  run.held.update({ session: current })
  if (isTerminal(current)) return
  // A session that is handed to another agent, or back, is not ended here. Its next holder need not wait until our
  // lease expires.
  if (isHandedBack || (await isForAnother(run.deps, current, run.agents))) {
    await retried(() => run.deps.store.leases.renew(current.id, run.held.holder, SHORTEST_LEASE_MS))
    return
  }
  const handoffId = heldBy(current)
  if (handoffId !== undefined) {
    const end = { handoff: handoffId, reason, by: run.held.claimant, holder: run.held.holder }
    const ended = await retried((named) =>
      outcome === 'cancelled'
        ? handoffs.cancelHandoff({ ...end, ...named })
        : handoffs.failHandoff({ ...end, ...named }),
    )
    // Another process has claimed the handoff: it completes the handoff, or its claim expires and the session is
    // recovered.
    if (!ended.ok) return
    run.held.update(ended.value)
    run.news.emit({ type: 'context:handoff:cancelled', handoffId, reason })
  }
  const { working } = run.held
  if (working.session.state !== 'active') return
  const settled = await retried((named) => {
    if (outcome === 'completed' || outcome === 'writes_refused')
      return handoffs.completeSession({ ...working, ...named })
    if (outcome === 'cancelled' || isPausedFor(limit)) return handoffs.pauseSession({ ...working, ...named })
    return handoffs.failSession({ ...working, reason, ...defined({ limit }), ...named })
  })
  run.held.update(unwrap(settled))
}

const summaryOf = (
  { conversation, account, held }: Pick<RunInProgress, 'conversation' | 'account' | 'held'>,
  { outcome, reason, limit }: RunEnding,
): RunSummary => {
  const lastSessionId = held.isThere ? held.session.id : undefined
  return defined({ conversationId: conversation.id, outcome, reason, limit, ...account.figures(), lastSessionId })
}

const HOOK_EVENT = {
  completed: 'completed',
  cancelled: 'cancelled',
  timed_out: 'timeout',
  failed: 'failed',
  exhausted: 'failed',
  superseded: 'cancelled',
  handed_over: 'completed',
  writes_refused: 'failed',
} as const satisfies Record<RunOutcome, string>

const callEndHooks = async (
  run: HookCaller & Pick<RunInProgress, 'account'>,
  { outcome, reason }: RunEnding,
  sessionId: AgentSessionId,
): Promise<void> => {
  const about = { session: hookSessionOf(run, sessionId), original_prompt: run.conversation.task }
  const event = HOOK_EVENT[outcome]
  if (event === 'failed' || event === 'timeout') {
    const error = { code: `run.${outcome}`, message: reason ?? outcome }
    await callHooks(run, 'on_error', sessionId, { hook_event_name: event, error, ...about })
  }
  const { durationMs, restarts } = run.account.figures()
  const result = { duration_ms: durationMs, handoff_count: restarts, error: reason ?? null }
  await callHooks(run, 'after_run', sessionId, { hook_event_name: event, run: result, ...about })
}
