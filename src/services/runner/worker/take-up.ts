import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId } from '../../../domain/kernel/ids.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { askSessionHooks, tellTakenUp } from '../restart/carry-out-restart.ts'
import { continuationOf, lookBackNote } from '../restart/continuation-prompt.ts'
import { countRestarts } from '../restart/count-restarts.ts'
import { transferNote } from '../restart/transfer.ts'
import { watchAsAsked } from '../restart/watch-as-asked.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { type Launcher, startSuccessor } from '../work/launch.ts'

/**
 * Takes a handoff up that this process has claimed, without ever having held its source: the opening of the successor is
 * stored with the commit that completes the handoff, and the run holds the successor from then on.
 */
export const takeUp = async <Message>(
  run: RunInProgress<Message>,
  handoff: HandoffMetadata,
  claimant: string,
): Promise<Launcher<Message>> => {
  run.account.restartedBefore(await countRestarts(run))
  const targetSessionId = agentSessionId(run.deps.ids.next())
  const nonce = run.deps.ids.next()
  const parts = [transferNote(handoff), await continuationOf(run, handoff, nonce), await lookBackNote(run)]
  const prompt = joinedPrompt(parts)
  run.held.plan(targetSessionId)
  using _renewing = renewing(run, handoff, claimant)
  const hookContext = await askSessionHooks(run, { sessionId: targetSessionId, prompt, isContinuation: true })
  const continuation = joinedPrompt([hookContext, prompt])
  run.signal.throwIfAborted()
  const { runtime, model } = run.request
  const target = { targetSessionId, backend: runtime.backend, ...defined({ model }), ...run.lease }
  const request = { handoff: handoff.id, claimant, continuation, nonce, ...target }
  const complete = () => run.retryThroughOutage((named) => run.deps.handoffs.completeHandoff({ ...request, ...named }))
  const completed = unwrap(await complete())
  run.held.hold(completed)
  await watchAsAsked(run)
  await tellTakenUp(run, completed.handoff)
  return startSuccessor(run, continuation)
}

/** Renews a claim while hooks take their time. A claim that is lost shows when the handoff is completed. */
const renewing = (run: RunInProgress, handoff: HandoffMetadata, claimant: string): Disposable => {
  const { leaseMs: claimMs } = run.lease
  const renew = (): void => {
    run.deps.handoffs.renewClaim({ handoff: handoff.id, claimant, claimMs }).catch(() => undefined)
  }
  const timer = setInterval(renew, Math.max(1, Math.floor(claimMs / 2)))
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
