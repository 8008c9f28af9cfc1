import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { heldBy } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import { errorFields } from '../commands/safe-logger.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { BEATS_PER_LEASE } from './run-request.ts'

/** Says that a run's process lives, until it is disposed of. Stops the run when somebody else has its session. */
export const startHeartbeat = (run: Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'stop'>): Disposable => {
  let isBeating = false
  const beat = async (): Promise<void> => {
    if (isBeating || !run.held.hasLease) return
    isBeating = true
    const { session, holder } = run.held
    try {
      const isOurs = await run.deps.store.leases.renew(session.id, holder, run.lease.leaseMs)
      // A session that is being handed on or ended gives its lease back itself, and nobody took it.
      if (!isOurs && run.held.session.id === session.id && run.held.hasLease) run.stop(run.held.supersededError())
    } catch (error) {
      // The store is away. It is asked again soon, and if it stays away the lease says so.
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

/** The answer, unless somebody else has the session now. */
export const unlessTakenOver = <T>(
  { held }: Pick<RunInProgress, 'held'>,
  answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RefusedError['refusal'] },
): T => {
  if (answer.ok) return answer.value
  if (['session.superseded', 'session.not_active', 'session.illegal_transition'].includes(answer.error.code))
    throw held.supersededError()
  throw new RefusedError(answer.error)
}

type Holding = Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'retryThroughOutage'>

const HELD: readonly Refusal['code'][] = ['session.not_active', 'session.illegal_transition']

/**
 * The handoff that somebody initiated from outside while the session was worked, if this run is still its holder: what
 * the agent said since belongs to the turn before it, and the run carries it out. Costs two reads, and nothing unless a
 * command was refused or the agent has come to rest.
 */
export const outsideHandoff = async (run: Holding): Promise<HandoffMetadata | undefined> => {
  const { deps, held } = run
  const { id } = held.session
  const now = await run.retryThroughOutage(() => deps.history.session(id))
  const handoffId = now && heldBy(now)
  if (now === undefined || handoffId === undefined) return undefined
  const isOurs = await run.retryThroughOutage(() => deps.store.leases.renew(id, held.holder, run.lease.leaseMs))
  if (!isOurs) return undefined
  held.update({ session: now })
  return run.retryThroughOutage(() => deps.history.handoff(handoffId))
}

/** As {@link outsideHandoff}, when a command about the session was refused. */
export const outsideHandoffAfter = async (run: Holding, refusal: Refusal): Promise<HandoffMetadata | undefined> =>
  HELD.includes(refusal.code) ? outsideHandoff(run) : undefined
