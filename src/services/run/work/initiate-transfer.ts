import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import { describeRefusal } from '../../../domain/refusal.ts'
import type { TransferAsked } from '../../../ports/agent/agent-runtime.ts'
import type { Restarting } from './threshold.ts'

/** Initiates the handoff that an agent or a hook asked for. Where it is refused, the session continues, and that is said. */
export const initiateTransfer = async (
  run: Restarting,
  { to: targetAgent, reason, document }: TransferAsked,
): Promise<HandoffMetadata | undefined> => {
  const { traceContext } = run.spans
  const request = { ...run.held.working, targetAgent, ...defined({ reason, document, traceContext }) }
  const begun = await run.retryThroughOutage((named) => run.deps.handoffs.initiateHandoff({ ...request, ...named }))
  if (begun.ok) {
    run.held.update(begun.value)
    return begun.value.handoff
  }
  const message = `The work is not handed to ${inQuotes(targetAgent)}: ${describeRefusal(begun.error)}`
  run.news.emit({ type: 'run:warning', code: 'handoff.refused', message })
  return undefined
}
