import type { DelegatedThread } from '../../../domain/thread/delegated-thread.ts'
import { outcomeOnRecord } from '../../../domain/thread/thread-report.ts'
import { errorFields } from '../../commands/safe-logger.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { BEATS_PER_LEASE } from '../run-request.ts'

type Adopting = Pick<RunInProgress, 'deps' | 'conversation' | 'threads' | 'retryThroughOutage' | 'signal' | 'lease'>

/**
 * The threads whose outcomes the conversation waits for. Those without an outcome are started in this process, if it
 * can run them.
 */
export const adoptThreads = async (run: Adopting): Promise<readonly DelegatedThread[]> => {
  if (!run.threads.areOffered) return []
  const { conversations } = run.deps.store
  const waited = await run.retryThroughOutage(() => conversations.listDelegated(run.conversation.id))
  for (const thread of waited) if (outcomeOnRecord(thread.session) === undefined) run.threads.start(thread)
  return waited
}

/** Looks for threads that other callers opened, as often as the run renews its lease. */
export const startAdopting = (run: Adopting): Disposable => {
  const everyMs = Math.max(1, Math.floor(run.lease.leaseMs / BEATS_PER_LEASE))
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking || run.signal.aborted) return
    isLooking = true
    try {
      await adoptThreads(run)
    } catch (error) {
      run.deps.logger?.warn({ ...errorFields(error, run.deps.redact) }, 'threads were not looked for')
    } finally {
      isLooking = false
    }
  }
  const timer = run.threads.areOffered ? setInterval(() => void look(), everyMs) : undefined
  timer?.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
