import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { isOvertaken, type Refusal } from '../../../domain/refusal.ts'
import { heldBy } from '../../../domain/session/agent-session.ts'
import type { RunInProgress } from '../run-in-progress.ts'

type Holding = Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'retryThroughOutage'>

/**
 * The handoff that somebody initiated from outside while the session was worked, if this run is still its holder: what
 * the agent said since belongs to the turn before it, and the run carries it out. Costs two reads, and nothing unless a
 * command was refused or the agent has come to rest.
 */
export const passedOn = async (run: Holding): Promise<HandoffMetadata | undefined> => {
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

/** As {@link passedOn}, when a command about the session was refused. */
export const passedOnInstead = async (run: Holding, refusal: Refusal): Promise<HandoffMetadata | undefined> =>
  isOvertaken(refusal) ? passedOn(run) : undefined
