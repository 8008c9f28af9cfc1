import { type BudgetLimit, describeStop, isSpent } from '../../../domain/budget/restart-budget.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { RunExhausted } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { Uncounted } from './turn-extender.ts'

/** Whether the conversation has cost what it may, this run included. */
export const isOutOfMoney = (run: RunInProgress): boolean =>
  isSpent(run.conversation.restartBudget, { costUsd: run.costUsd })

/** Says that a limit was reached, and what the conversation has cost by then. */
export const tellReached = (run: RunInProgress, limit: BudgetLimit): void => {
  const { estimatedUsd = 0 } = run.tally.totals
  run.emit({
    type: 'budget:reached',
    sessionId: run.hasSession ? run.held.session.id : null,
    limit,
    costUsd: run.costUsd,
    estimatedUsd,
  })
}

/** Looked at before everything that costs money. @throws RunExhausted when the conversation has cost what it may */
export const throwIfSpent = (run: RunInProgress): void => {
  if (!isOutOfMoney(run)) return
  tellReached(run, 'cost')
  throw new RunExhausted('cost', describeStop('cost', run.conversation.restartBudget))
}

/** Refuses a model that nobody has a price for where the cost has a cap. @throws RefusedError */
export const mustBePriced = (run: RunInProgress, model: string | undefined): void => {
  const { maxCostUsd } = run.conversation.restartBudget
  if (maxCostUsd === undefined || model === undefined || run.setting('allowUnpriced') === true) return
  if (run.request.runtime.reportsCost === true) return
  if (run.deps.priceOf?.(model, { inputTokens: 1_000, outputTokens: 1_000 }) === undefined)
    throw uncountedEnd(run, { model })
}

/** The end of a run whose cost has a cap and cannot be told. */
export const uncountedEnd = (run: RunInProgress, uncounted: Uncounted): RefusedError => {
  const { maxCostUsd = 0 } = run.conversation.restartBudget
  return 'model' in uncounted
    ? new RefusedError({ code: 'budget.unpriced', model: uncounted.model, maxCostUsd })
    : new RefusedError({ code: 'budget.unmetered', missing: uncounted.missing, maxCostUsd })
}
