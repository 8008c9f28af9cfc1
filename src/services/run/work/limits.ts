import { type BudgetLimit, deadlineOf, describeStop, isSpent } from '../../../domain/budget/restart-budget.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import { RunExhausted, RunTimedOut } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { RunTerms } from '../run-terms.ts'

/** Whether the conversation has cost what it may, this run included. */
export const isOutOfMoney = (run: Pick<RunInProgress, 'conversation' | 'account'>): boolean =>
  isSpent(run.conversation.restartBudget, { costUsd: run.account.costUsd })

/** Says that a limit was reached, and what the conversation has cost by then. */
export const tellReached = (run: Pick<RunInProgress, 'account' | 'held' | 'news'>, limit: BudgetLimit): void => {
  const { estimatedUsd = 0 } = run.account.totals
  run.news.emit({
    type: 'budget:reached',
    sessionId: run.held.isThere ? run.held.session.id : null,
    limit,
    costUsd: run.account.costUsd,
    estimatedUsd,
  })
}

/** Looked at before everything that costs money. @throws RunExhausted when the conversation has cost what it may */
export const throwIfSpent = (run: Pick<RunInProgress, 'conversation' | 'account' | 'held' | 'news'>): void => {
  if (!isOutOfMoney(run)) return
  tellReached(run, 'cost')
  throw new RunExhausted('cost', describeStop('cost', run.conversation.restartBudget))
}

/** Refuses a model that nobody has a price for where the cost has a cap. @throws RefusedError */
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

/** The end of a run whose cost has a cap and cannot be told. */
export const uncountedEnd = (run: Pick<RunInProgress, 'conversation'>, uncounted: Uncounted): RefusedError => {
  const { maxCostUsd = 0 } = run.conversation.restartBudget
  return 'model' in uncounted
    ? new RefusedError({ code: 'budget.unpriced', model: uncounted.model, maxCostUsd })
    : new RefusedError({ code: 'budget.unmetered', missing: uncounted.missing, maxCostUsd })
}

type Timed = Pick<RunInProgress, 'deps' | 'conversation'>

/** Milliseconds until the conversation's time is over; nothing when it has no deadline. */
export const remainingMs = async ({ deps, conversation }: Timed): Promise<number | undefined> => {
  const { id, restartBudget } = conversation
  if (restartBudget.deadlineMs === undefined) return undefined
  const [first] = (await deps.store.sessions.listForConversation(id, { limit: 1 })).items
  const deadline = first && deadlineOf(restartBudget, first.startedAt)
  return deadline === undefined ? restartBudget.deadlineMs : Date.parse(deadline) - Date.parse(deps.clock.now())
}

/** Timers take no more than this. */
const LONGEST_MS = 2_147_483_647

/** Stops a run when the time of its conversation is over. Carrying on is about windows, and not about time. */
export const startDeadline = async (run: Timed & Pick<RunInProgress, 'stop'>): Promise<Disposable> => {
  const remaining = await remainingMs(run)
  if (remaining === undefined) return { [Symbol.dispose]: () => undefined }
  const over = (): void => run.stop(new RunTimedOut('The time of the conversation is over.'))
  if (remaining <= 0) over()
  const timer = setTimeout(over, Math.min(Math.max(0, remaining), LONGEST_MS))
  timer.unref()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Why a cost cannot be told: nobody has a price for the model, or the agent does not say what is needed. */
export type Uncounted = { readonly model: string } | { readonly missing: 'usage' | 'cost' }
