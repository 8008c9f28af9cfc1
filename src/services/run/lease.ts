import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { isOvertaken, type Refusal } from '../../domain/refusal.ts'
import { heldBy } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import { errorFields } from '../commands/safe-logger.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { BEATS_PER_LEASE } from './run-request.ts'

/**
 * Renews the lease of a run's session, until it is disposed of. Stops the run when another process has taken the
 * session over.
 */
export const startHeartbeat = (run: Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'stop'>): Disposable => {
  let isBeating = false
  const beat = async (): Promise<void> => {
    if (isBeating || !run.held.hasLease) return
    isBeating = true
    const { session, holder } = run.held
    try {
      const isOurs = await run.deps.store.leases.renew(session.id, holder, run.lease.leaseMs)
      // A session that was handed off or ended meanwhile has released its lease: that is no takeover.
      if (!isOurs && run.held.session.id === session.id && run.held.hasLease) run.stop(run.held.supersededError())
    } catch (error) {
      // The store is away. The next beat tries again; if the store stays away, the lease expires.
      run.deps.logger?.warn(
        { sessionId: session.id, ...errorFields(error, run.deps.redact) },
        'the lease was not renewed',
      )
    } finally {
      isBeating = false
    }
  }
  const timer = setInterval(() => void beat(), Math.max(1, Math.floor(run.lease.leaseMs / BEATS_PER_LEASE)))
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * The value of an answer.
 *
 * @throws SupersededError when the command was refused because another process has taken the session over
 */
export const unlessTakenOver = <T>(
  { held }: Pick<RunInProgress, 'held'>,
  answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RefusedError['refusal'] },
): T => {
  if (answer.ok) return answer.value
  if (isOvertaken(answer.error)) throw held.supersededError()
  throw new RefusedError(answer.error)
}

type Holding = Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'retryThroughOutage'>

/**
 * The handoff that another caller initiated while this run worked the session, if the run still holds the session. The
 * run carries it out; the agent's words since then belong to the turn before it. This costs two reads, so it is called
 * only when a command was refused or the agent has stopped.
 */
export const outsideHandoff = async (run: Holding): Promise<HandoffMetadata | undefined> => {
  const { deps, held } = run
  const { id } = held.session
  const current = await run.retryThroughOutage(() => deps.history.session(id))
  const handoffId = current && heldBy(current)
  if (current === undefined || handoffId === undefined) return undefined
  const isOurs = await run.retryThroughOutage(() => deps.store.leases.renew(id, held.holder, run.lease.leaseMs))
  if (!isOurs) return undefined
  held.update({ session: current })
  return run.retryThroughOutage(() => deps.history.handoff(handoffId))
}

/** As {@link outsideHandoff}, after a command about the session was refused. */
export const outsideHandoffAfter = async (run: Holding, refusal: Refusal): Promise<HandoffMetadata | undefined> =>
  isOvertaken(refusal) ? outsideHandoff(run) : undefined
