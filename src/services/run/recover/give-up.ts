import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { heldBy } from '../../../domain/session/agent-session.ts'
import { RefusedError, unwrap } from '../../../domain/unwrap.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import { DEFAULT_LEASE_MS } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'
import { abandonedBy, claimantOf, goneRunner } from './gone-runner.ts'
import { endOrphans } from './launched-processes.ts'

const LOOK_AGAIN_MS = 250
/** A claim of a runner is as long as its lease, so it has expired by then. */
const LONGEST_WAIT_MS = 120_000

/** Why a session is given up, and the claimant of the handoff that holds it: the lost process unless named. */
interface GivingUp {
  readonly reason: string
  readonly by?: string
  readonly signal?: AbortSignal
}

/** Fails an orphaned session that nobody can resume, and the handoff that was under way. */
export const giveUp = async (
  deps: RunnerDeps,
  sessionId: AgentSessionId,
  { reason, signal, by: claimant }: GivingUp,
): Promise<void> => {
  const { handoffs, history } = deps
  const gone = await goneRunner(deps, sessionId)
  const request = { session: sessionId, leaseMs: DEFAULT_LEASE_MS, ...abandonedBy(gone) }
  const taken = unwrap(await handoffs.takeOverSession(request))
  const by = claimant ?? claimantOf(gone)
  await endOrphans(deps, sessionId)
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const handoffId = heldBy(taken.session)
    const handoff = handoffId === undefined ? undefined : await history.handoff(handoffId)
    if (handoff === undefined) break
    const failed = await handoffs.failHandoff({ handoff, reason, ...defined({ by }) })
    if (failed.ok) break
    // Another process has claimed the handoff and may be lost too. Nobody else may end the handoff until that claim
    // expires.
    if (failed.error.code !== 'handoff.not_claimant' || waitedMs > LONGEST_WAIT_MS) throw new RefusedError(failed.error)
    await pauseFor(LOOK_AGAIN_MS, signal)
  }
  unwrap(await handoffs.failSession({ session: sessionId, holder: taken.holder, reason }))
}
