import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import type { SharedSpending } from '../run-account.ts'
import type { RunRequest } from '../run-request.ts'

/** Work that is there before its run: a session without its holder, a handoff that this process has claimed, or a thread. */
export interface LeftWork {
  readonly abandoned?: AgentSessionId
  readonly claimed?: { readonly handoff: HandoffMetadata; readonly claimant: string }
  /** The money of the run that delegated a thread. */
  readonly spending?: SharedSpending
}

/** Work that was left has its budget on record: no agent's own settings change it, nor does a worker. */
export const budgetFor = (
  asked: Pick<RunRequest, 'budget'>,
  request: Pick<RunRequest, 'budget'>,
  { abandoned, claimed, spending }: LeftWork,
): Pick<RunRequest, 'budget'> => {
  if (claimed !== undefined) return {}
  const isLeft = abandoned !== undefined || spending !== undefined
  return defined({ budget: isLeft ? asked.budget : request.budget })
}
