import type { Conversation, Workspace } from '../conversation.ts'
import type { Decided } from '../decision.ts'
import { defined } from '../defined.ts'
import type { OpeningFacts } from '../facts.ts'
import type { ConversationId } from '../ids.ts'
import { fieldProblems } from '../input.ts'
import type { Instant } from '../instant.ts'
import { type Refusal, refuseForAll } from '../refusal.ts'
import { DEFAULT_RESTART_BUDGET, type RestartBudget } from '../restart-budget.ts'
import { err, ok } from '../result.ts'

/** What it takes to open a conversation. */
export interface OpenConversation {
  readonly originalTask: string
  readonly externalKey?: string
  readonly subject?: string
  readonly parentId?: ConversationId
  readonly workspace?: Workspace
  readonly restartBudget?: RestartBudget
}

/** Opens a conversation, unless the key already names one: then that one is the answer and nothing is written. */
export const openConversation = (
  facts: OpeningFacts,
  request: OpenConversation,
  { id, at }: { readonly id: ConversationId; readonly at: Instant },
): Decided<{ readonly conversation: Conversation }> => {
  const { originalTask, externalKey, subject, parentId, workspace, restartBudget = DEFAULT_RESTART_BUDGET } = request
  const problem = refuseForAll([
    ...fieldProblems({ originalTask, externalKey, subject }),
    ...budgetProblems(restartBudget),
  ])
  if (problem !== undefined) return err(problem)
  if (facts.existing !== undefined) return ok({ changes: [], events: [], answer: { conversation: facts.existing } })
  if (parentId !== undefined && facts.parent === undefined) {
    return err({ code: 'conversation.not_found', conversationId: parentId })
  }
  const known = { workspace: placeOf(workspace ?? {}), restartBudget: budgetOf(restartBudget) }
  const details = defined({ externalKey, subject, originalTask, parentId, ...known })
  const conversation: Conversation = { id, ...details, openedAt: at }
  return ok({
    changes: [{ type: 'add_conversation', conversation }],
    events: [{ type: 'conversation.opened', version: 1, conversationId: id, at, conversation }],
    answer: { conversation },
  })
}

/** What is kept of a workspace: these parts and no others, whatever a plain caller's object carries. */
const placeOf = ({ workingDirectory, worktreePath, branch }: Workspace): Workspace | undefined => {
  const place = defined({ workingDirectory, worktreePath, branch })
  return Object.keys(place).length === 0 ? undefined : place
}

const budgetOf = ({ maxRestarts, deadlineMs, maxCostUsd, whenExhausted }: RestartBudget): RestartBudget =>
  defined({ maxRestarts, deadlineMs, maxCostUsd, whenExhausted })

const budgetProblems = ({
  maxRestarts,
  deadlineMs = 0,
  maxCostUsd = 0,
  whenExhausted,
}: RestartBudget): readonly Refusal[] => {
  const isWhole = Number.isSafeInteger(maxRestarts) && maxRestarts >= 0
  const isMeasured = [deadlineMs, maxCostUsd].every((amount) => Number.isFinite(amount) && amount >= 0)
  if (isWhole && isMeasured && ['stop', 'carry_on'].includes(whenExhausted)) return []
  const problem = 'it counts restarts, milliseconds and dollars from 0 up, and ends in stop or carry_on'
  return [{ code: 'input.invalid', field: 'restartBudget', problem }]
}
