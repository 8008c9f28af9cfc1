import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import type { TakeOver } from '../../../domain/session/change-session.ts'
import type { ProcessIdentity } from '../../../domain/session/process-identity.ts'
import { everyPage } from '../../../ports/store/page.ts'
import type { HeldLease } from '../../../ports/store/session-leases.ts'
import type { RunnerDeps } from '../run-terms.ts'

type Deps = Pick<RunnerDeps, 'store' | 'processes'>

/** The runner of a session if it ran on this machine and has ended: then nobody waits until its lease expires. */
export const goneRunner = async (deps: Deps, session: AgentSessionId): Promise<ProcessIdentity | undefined> => {
  const lease = await deps.store.leases.find(session)
  return lease && goneRunnerOf(deps, lease)
}

const goneRunnerOf = ({ processes }: Deps, { runner }: HeldLease): ProcessIdentity | undefined =>
  runner !== undefined && processes?.isGone?.(runner) === true ? runner : undefined

/** The name under which a runner claims handoffs, where its process is known. */
export const claimantOf = (runner: ProcessIdentity | undefined): string | undefined => runner && `runner-${runner.mark}`

/**
 * How to take over an orphaned session: at once if its process is known to have ended, else once its lease has expired.
 */
export const abandonedBy = (gone: ProcessIdentity | undefined): Pick<TakeOver, 'ifAbandoned' | 'deadRunner'> => ({
  ifAbandoned: true,
  ...(gone !== undefined && { deadRunner: gone.mark }),
})

/**
 * The leases that have not expired, first to expire first: those whose runner is gone, and those that must be waited
 * for.
 */
export const runningLeases = async (
  deps: Deps,
): Promise<{ readonly gone: readonly HeldLease[]; readonly waiting: readonly HeldLease[] }> => {
  const gone: HeldLease[] = []
  const waiting: HeldLease[] = []
  for await (const lease of everyPage((page) => deps.store.leases.listRunning(page)))
    (goneRunnerOf(deps, lease) === undefined ? waiting : gone).push(lease)
  return { gone, waiting }
}
