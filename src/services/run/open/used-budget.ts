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
import { pauseFor } from '../../commands/pause-for.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { emitLimitReached } from '../work/limits.ts'
import type { SessionOutcome } from '../work/session-outcome.ts'
import { noteUnsaidTask } from './unsaid-task.ts'

/** The parts of a run that know its limits, and emit when one is reached. */
type Limited = Pick<RunInProgress, 'conversation' | 'account' | 'held' | 'news'>

const UNUSED: BudgetUse = { restarts: 0, takeovers: 0, costUsd: 0 }

/**
 * Records a new prompt, from which restarts and takeovers are counted again, and reads the budget that is used since
 * then.
 */
export const openBudget = async (
  run: RecordOfRun & Pick<RunInProgress, 'request' | 'account' | 'agents'>,
): Promise<BudgetUse> => {
  const { deps, conversation, request } = run
  if (isNewPrompt(conversation.current, deps.redact?.(request.prompt) ?? request.prompt)) {
    const question = { conversation: conversation.id, prompt: request.prompt }
    const ask = () => run.retryThroughOutage((named) => deps.handoffs.askConversation({ ...question, ...named }))
    conversation.update(unwrap(await ask()).conversation)
  }
  await noteUnsaidTask(run)
  const use = (await run.retryThroughOutage(() => deps.store.conversations.findUse(conversation.id))) ?? UNUSED
  run.account.costBefore(run.agents.isCast ? await treeCost(run, use) : use.costUsd)
  return useSince(use, conversation.current.asked)
}

/** The cost of the whole tree of threads that a conversation belongs to. */
const treeCost = async ({ deps, conversation, retryThroughOutage }: RecordOfRun, use: BudgetUse): Promise<number> =>
  (await retryThroughOutage(() => deps.store.conversations.findTree(conversation.id)))?.costUsd ?? use.costUsd

/**
 * The end of a run whose latest session was ended by a limit: without a new prompt or a larger budget it does not
 * continue.
 */
export const endedFor = (
  run: Limited,
  latest: AgentSession | undefined,
  use: BudgetUse,
): SessionOutcome | undefined => {
  const endedBy = latest?.state === 'failed' && isSincePrompt(run, latest) ? latest.endedBy : undefined
  const limit = stillEndedBy(endedBy, run.conversation.restartBudget, use)
  return limit && overFor(run, limit)
}

/**
 * Whether a session has worked on the latest prompt. A limit that ended an earlier session belongs to an earlier
 * prompt.
 */
const isSincePrompt = ({ conversation }: Limited, { progress }: AgentSession): boolean => {
  const { asked: prompt } = conversation.current
  return prompt === undefined || progress.nextSequence > prompt.sequence
}

/**
 * Ends a session that was taken over too often. After earlier takeovers the run waits a while: the work may have killed
 * its process, and may do so again.
 */
export const afterTakeover = async (
  run: Limited & Pick<RunInProgress, 'signal'>,
  use: BudgetUse,
): Promise<SessionOutcome | undefined> => {
  if (isTakenOverTooOften(run.conversation.restartBudget, use)) return overFor(run, 'takeovers')
  await pauseFor(pauseAfterTakeover(use.takeovers), run.signal)
  return undefined
}

const overFor = (run: Limited, limit: BudgetLimit): SessionOutcome => {
  emitLimitReached(run, limit)
  return { type: 'over', outcome: 'exhausted', reason: describeStop(limit, run.conversation.restartBudget), limit }
}

/** How often the conversation was restarted in a fresh window so far. */
export const countRestarts = async ({ conversation, deps }: RecordOfRun): Promise<number> => {
  let count = 0
  const restarts = { conversationId: conversation.id, kind: 'context_restart', status: 'completed' } as const
  for await (const _ of deps.history.eachHandoff(restarts)) count += 1
  return count
}
