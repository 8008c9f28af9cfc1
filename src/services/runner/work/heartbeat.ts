import { isTerminal } from '../../../domain/session/agent-session.ts'
import { errorFields } from '../../safe-logger.ts'
import { BEATS_PER_LEASE } from '../lease.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** A session that is being handed on, or has ended, has no lease to renew. */
const isQuiet = (run: RunInProgress): boolean => run.isSettling || isTerminal(run.held.session)

/** Says that a run's process lives, until it is disposed of. Stops the run when somebody else has its session. */
export const startHeartbeat = (run: RunInProgress): Disposable => {
  let isBeating = false
  const beat = async (): Promise<void> => {
    if (isBeating || !run.hasSession || isQuiet(run)) return
    isBeating = true
    const { session, holder } = run.held
    try {
      const isOurs = await run.deps.store.leases.renew(session.id, holder, run.leaseMs)
      // A session that is being handed on or ended gives its lease back itself, and nobody took it.
      if (!isOurs && run.held.session.id === session.id && !isQuiet(run)) run.stop(run.overtaken())
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
  const timer = setInterval(() => void beat(), Math.max(1, Math.floor(run.leaseMs / BEATS_PER_LEASE)))
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
