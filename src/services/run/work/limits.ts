import { type BudgetLimit, deadlineOf, describeStop, isSpent } from '../../../domain/budget/restart-budget.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import { RunExhausted, RunTimedOut } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { RunTerms } from '../run-terms.ts'

/** Whether the conversation has spent its budget for the cost, this run included. */
export const isOutOfMoney = (run: Pick<RunInProgress, 'conversation' | 'account'>): boolean =>
  isSpent(run.conversation.restartBudget, { costUsd: run.account.costUsd })

/** Emits that a limit was reached, and the cost of the conversation by then. */
export const emitLimitReached = (run: Pick<RunInProgress, 'account' | 'held' | 'news'>, limit: BudgetLimit): void => {
  const { estimatedUsd = 0 } = run.account.totals
  run.news.emit({
    type: 'budget:reached',
    sessionId: run.held.isThere ? run.held.session.id : null,
    limit,
    costUsd: run.account.costUsd,
    estimatedUsd,
  })
}

/** Called before everything that costs money. @throws RunExhausted when the budget for the cost is spent */
export const throwIfSpent = (run: Pick<RunInProgress, 'conversation' | 'account' | 'held' | 'news'>): void => {
  if (!isOutOfMoney(run)) return
  emitLimitReached(run, 'cost')
  throw new RunExhausted('cost', describeStop('cost', run.conversation.restartBudget))
}

/** Refuses a model without a list price where the cost has a cap. @throws RefusedError */
export const mustBePriced = (
  run: RunTerms & Pick<RunInProgress, 'conversation'>,
  model: string | undefined,
  { reportsCost }: Pick<AgentRuntime, 'reportsCost'> = run.request.runtime,
): void => {
  const { maxCostUsd } = run.conversation.restartBudget
  if (maxCostUsd === undefined || model === undefined || run.setting('allowUnpriced') === true) return
  if (reportsCost === true) return
  if (run.deps.priceOf?.(model, { inputTokens: 1_000, outputTokens: 1_000 }) === undefined)
    throw uncountedEnd(run, { model })
}

/** The error of a run whose cost has a cap and cannot be counted. */
export const uncountedEnd = (run: Pick<RunInProgress, 'conversation'>, uncounted: Uncounted): RefusedError => {
  const { maxCostUsd = 0 } = run.conversation.restartBudget
  return 'model' in uncounted
    ? new RefusedError({ code: 'budget.unpriced', model: uncounted.model, maxCostUsd })
    : new RefusedError({ code: 'budget.unmetered', missing: uncounted.missing, maxCostUsd })
}

type Timed = Pick<RunInProgress, 'deps' | 'conversation'>

/** Milliseconds until the deadline of the conversation; undefined when it has none. */
export const remainingMs = async ({ deps, conversation }: Timed): Promise<number | undefined> => {
  const { id, restartBudget } = conversation
  if (restartBudget.deadlineMs === undefined) return undefined
  const [first] = (await deps.store.sessions.listForConversation(id, { limit: 1 })).items
  const deadline = first && deadlineOf(restartBudget, first.startedAt)
  return deadline === undefined ? restartBudget.deadlineMs : Date.parse(deadline) - Date.parse(deps.clock.now())
}

/** The longest time that a timer takes. */
const LONGEST_MS = 2_147_483_647

/**
 * Stops the run at the deadline of its conversation, also under `carry_on`: that policy is about windows, not about
 * time.
 */
export const startDeadline = async (run: Timed & Pick<RunInProgress, 'stop'>): Promise<Disposable> => {
  const remaining = await remainingMs(run)
  if (remaining === undefined) return { [Symbol.dispose]: () => undefined }
  const over = (): void => run.stop(new RunTimedOut('The time of the conversation is over.'))
  if (remaining <= 0) over()
  const timer = setTimeout(over, Math.min(Math.max(0, remaining), LONGEST_MS))
  timer.unref()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Why a cost cannot be counted: the model has no list price, or the agent does not report its usage or cost. */
export type Uncounted = { readonly model: string } | { readonly missing: 'usage' | 'cost' }
