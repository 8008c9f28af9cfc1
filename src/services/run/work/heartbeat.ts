import { errorFields } from '../../commands/safe-logger.ts'
import { BEATS_PER_LEASE } from '../lease.ts'
import type { RunInProgress } from '../run-in-progress.ts'

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
      if (!isOurs && run.held.session.id === session.id && run.held.hasLease) run.stop(run.held.overtaken())
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
