import { type BudgetLimit, type BudgetUse, describeStop, isTakenOverTooOften, pauseAfterTakeover, stillEndedBy, useSince } from '../../../domain/budget/restart-budget.ts'
import { isNewPrompt } from '../../../domain/conversation/prompt-mark.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import { noteUnsaidTask } from './unsaid-task.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { tellReached } from '../work/limits.ts'
import type { SessionOutcome } from '../work/session-outcome.ts'

/** The parts of a run that know its limits, and say when one is reached. */
type Limited = Pick<RunInProgress, 'conversation' | 'account' | 'held' | 'news'>

const UNUSED: BudgetUse = { restarts: 0, takeovers: 0, costUsd: 0 }

/** Notes a new prompt, from which restarts and takeovers count anew, and reads what the conversation has used since. */
export const openBudget = async (
  run: RecordOfRun & Pick<RunInProgress, 'request' | 'account' | 'agents'>,
): Promise<BudgetUse> => {
  const { deps, conversation, request } = run
  if (isNewPrompt(conversation.current, deps.redact?.(request.prompt) ?? request.prompt)) {
    const asked = { conversation: conversation.id, prompt: request.prompt }
    const keep = () => run.retryThroughOutage((named) => deps.handoffs.askConversation({ ...asked, ...named }))
    conversation.update(unwrap(await keep()).conversation)
  }
  await noteUnsaidTask(run)
  const use = (await run.retryThroughOutage(() => deps.store.conversations.findUse(conversation.id))) ?? UNUSED
  run.account.costBefore(run.agents.isCast ? await treeCost(run, use) : use.costUsd)
  return useSince(use, conversation.current.asked)
}

/** The cost of the whole tree that a conversation belongs to: several agents may have delegated in it. */
const treeCost = async ({ deps, conversation, retryThroughOutage }: RecordOfRun, use: BudgetUse): Promise<number> =>
  (await retryThroughOutage(() => deps.store.conversations.findTree(conversation.id)))?.costUsd ?? use.costUsd

/** The limit that refuses to continue after this session without a new prompt. */
export const endedFor = (
  run: Limited,
  latest: AgentSession | undefined,
  use: BudgetUse,
): SessionOutcome | undefined => {
  const endedBy = latest?.state === 'failed' && isSincePrompt(run, latest) ? latest.endedBy : undefined
  const limit = stillEndedBy(endedBy, run.conversation.restartBudget, use)
  return limit && overFor(run, limit)
}

/** Whether a session has worked on the latest prompt. The limit that ended an earlier one was of an earlier prompt. */
const isSincePrompt = ({ conversation }: Limited, { progress }: AgentSession): boolean => {
  const { asked } = conversation.current
  return asked === undefined || progress.nextSequence > asked.sequence
}

/** Ends a session that was taken over too often, and lets one that was before wait: what kills its process does it again. */
export const afterTakeover = async (
  run: Limited & Pick<RunInProgress, 'signal'>,
  use: BudgetUse,
): Promise<SessionOutcome | undefined> => {
  if (isTakenOverTooOften(run.conversation.restartBudget, use)) return overFor(run, 'takeovers')
  await pauseFor(pauseAfterTakeover(use.takeovers), run.signal)
  return undefined
}

const overFor = (run: Limited, limit: BudgetLimit): SessionOutcome => {
  tellReached(run, limit)
  return { type: 'over', outcome: 'exhausted', reason: describeStop(limit, run.conversation.restartBudget), limit }
}

/** How often the conversation was handed on in fresh windows so far. */
export const countRestarts = async ({ conversation, deps }: RecordOfRun): Promise<number> => {
  let count = 0
  const restarts = { conversationId: conversation.id, kind: 'context_restart', status: 'completed' } as const
  for await (const _ of deps.history.eachHandoff(restarts)) count += 1
  return count
}
