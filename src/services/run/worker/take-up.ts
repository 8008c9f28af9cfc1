import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { type AgentSessionId, agentSessionId } from '../../../domain/kernel/ids.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { mustHold } from '../../commands/answers.ts'
import { askSessionHooks } from '../hooks/hook-calls.ts'
import { countRestarts } from '../open/used-budget.ts'
import { announceTakenUp } from '../restart/carry-out-restart.ts'
import { continuationOf, lookBackNote } from '../restart/continuation-prompt.ts'
import { throwIfBouncing, transferNote } from '../restart/transfer.ts'
import { ENDING_OUTAGE_MS } from '../retry-through-outage.ts'
import { RunExhausted, RunTimedOut } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { applyMonitorSettings } from '../run-window.ts'
import { threadsNote } from '../threads/threads-note.ts'
import { type Launcher, startSuccessor } from '../work/launch.ts'
import { throwIfSpent } from '../work/limits.ts'

/**
 * Carries out a handoff that this process has claimed, though it never held the source. The opening of the successor is
 * stored in the commit that completes the handoff; from then on the run holds the successor.
 */
export const takeUp = async <Message>(
  run: RunInProgress<Message>,
  handoff: HandoffMetadata,
  claimant: string,
): Promise<Launcher<Message>> => {
  await mustBePossible(run, handoff, claimant)
  run.account.restartedBefore(await countRestarts(run))
  using _renewing = renewing(run, handoff, claimant)
  const opening = await openingOf(run, handoff)
  const { continuation } = opening
  run.signal.throwIfAborted()
  const { runtime, model } = run.request
  const target = { ...opening, backend: runtime.backend, ...defined({ model }), ...run.lease }
  const request = { handoff: handoff.id, claimant, ...target }
  const complete = () => run.retryThroughOutage((named) => run.deps.handoffs.completeHandoff({ ...request, ...named }))
  const completed = mustHold(unwrap(await complete()))
  run.held.hold(completed)
  await applyMonitorSettings(run)
  await announceTakenUp(run, completed.handoff)
  return startSuccessor(run, continuation)
}

/** The opening of a successor, and the id of its session. */
interface SuccessorOpening {
  readonly targetSessionId: AgentSessionId
  readonly continuation: string
  readonly nonce?: string
}

/** The opening that the process of the source has stored with the handoff, or else a new one. */
const openingOf = async (run: RunInProgress, handoff: HandoffMetadata): Promise<SuccessorOpening> => {
  const prepared = handoff.status === 'accepted' ? handoff.prepared : undefined
  const targetSessionId = prepared?.sessionId ?? agentSessionId(run.deps.ids.next())
  run.held.plan(targetSessionId)
  if (prepared !== undefined) return { targetSessionId, continuation: prepared.continuation }
  const nonce = run.deps.ids.next()
  const threads = await threadsNote(run, handoff.sourceSessionId)
  const parts = [transferNote(handoff), await continuationOf(run, handoff, nonce), threads, await lookBackNote(run)]
  const prompt = joinedPrompt(parts)
  const hookContext = await askSessionHooks(run, { sessionId: targetSessionId, prompt, nonce, isContinuation: true })
  return { targetSessionId, continuation: joinedPrompt([hookContext, prompt]), nonce }
}

/**
 * Stops agents that only hand the work to each other, and work whose time or budget is over. Then this run takes the
 * source over, so that its end also ends the handoff and the source, and no worker claims the handoff again. A source
 * without a lease stays as it is.
 */
const mustBePossible = async (run: RunInProgress, handoff: HandoffMetadata, claimant: string): Promise<void> => {
  try {
    run.signal.throwIfAborted()
    throwIfSpent(run)
    await throwIfBouncing(run, handoff)
  } catch (error) {
    if (!(error instanceof RunExhausted || error instanceof RunTimedOut)) throw error
    const { handoffs } = run.deps
    const retried = <T>(command: Parameters<typeof run.retryThroughOutage<T>>[0]) =>
      run.retryThroughOutage(command, { outageMs: ENDING_OUTAGE_MS })
    const source = { session: handoff.sourceSessionId, ...run.lease, ifAbandoned: true } as const
    const taken = await retried((named) => handoffs.takeOverSession({ ...source, ...named }))
    if (taken.ok) {
      run.held.hold(mustHold(taken.value))
      run.held.claimAs(claimant)
    } else {
      const end = { handoff: handoff.id, by: claimant, reason: error.message }
      unwrap(await retried((named) => handoffs.failHandoff({ ...end, ...named })))
    }
    throw error
  }
}

/** Renews a claim while hooks run. A lost claim shows when the handoff is completed. */
const renewing = (run: RunInProgress, handoff: HandoffMetadata, claimant: string): Disposable => {
  const { leaseMs: claimMs } = run.lease
  const renew = (): void => {
    run.deps.handoffs.renewClaim({ handoff: handoff.id, claimant, claimMs }).catch(() => undefined)
  }
  const timer = setInterval(renew, Math.max(1, Math.floor(claimMs / 2)))
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
