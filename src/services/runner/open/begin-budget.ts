import {
  type BudgetLimit,
  type BudgetUse,
  describeStop,
  isTakenOverTooOften,
  pauseAfterTakeover,
  stillEndedBy,
  useSince,
} from '../../../domain/budget/restart-budget.ts'
import { isNewPrompt } from '../../../domain/conversation/prompt-mark.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { pauseFor } from '../../pause-for.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { tellReached } from '../work/limits.ts'
import type { SessionOutcome } from '../work/work-session.ts'
import { noteUnsaidTask } from './unsaid-task.ts'

const UNUSED: BudgetUse = { restarts: 0, takeovers: 0, costUsd: 0 }

/** Notes a new prompt, from which restarts and takeovers count anew, and reads what the conversation has used since. */
export const openBudget = async (run: RunInProgress): Promise<BudgetUse> => {
  const { deps, conversation, request } = run
  if (isNewPrompt(conversation, deps.redact?.(request.prompt) ?? request.prompt)) {
    const asked = { conversation: conversation.id, prompt: request.prompt }
    const keep = () => run.retryThroughOutage((named) => deps.handoffs.askConversation({ ...asked, ...named }))
    run.conversation = unwrap(await keep()).conversation
  }
  await noteUnsaidTask(run)
  const use = (await run.retryThroughOutage(() => deps.store.conversations.findUse(conversation.id))) ?? UNUSED
  run.costBefore = use.costUsd
  return useSince(use, run.conversation.asked)
}

/** The limit that refuses to continue after this session without a new prompt. */
export const endedFor = (
  run: RunInProgress,
  latest: AgentSession | undefined,
  use: BudgetUse,
): SessionOutcome | undefined => {
  const endedBy = latest?.state === 'failed' && isSincePrompt(run, latest) ? latest.endedBy : undefined
  const limit = stillEndedBy(endedBy, run.conversation.restartBudget, use)
  return limit && overFor(run, limit)
}

/** Whether a session has worked on the latest prompt. The limit that ended an earlier one was of an earlier prompt. */
const isSincePrompt = ({ conversation: { asked } }: RunInProgress, { progress }: AgentSession): boolean =>
  asked === undefined || progress.nextSequence > asked.sequence

/** Ends a session that was taken over too often, and lets one that was before wait: what kills its process does it again. */
export const afterTakeover = async (run: RunInProgress, use: BudgetUse): Promise<SessionOutcome | undefined> => {
  if (isTakenOverTooOften(run.conversation.restartBudget, use)) return overFor(run, 'takeovers')
  await pauseFor(pauseAfterTakeover(use.takeovers), run.signal)
  return undefined
}

const overFor = (run: RunInProgress, limit: BudgetLimit): SessionOutcome => {
  tellReached(run, limit)
  return { type: 'over', outcome: 'exhausted', reason: describeStop(limit, run.conversation.restartBudget), limit }
}
