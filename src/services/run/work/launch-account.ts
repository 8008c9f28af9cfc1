import { addTotals, differenceOf, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { CostMeter, RequestCount } from './cost-meter.ts'
import type { Uncounted } from './limits.ts'

/** The parts of a run that a launch is put to the account of. */
export type Paying = Pick<RunInProgress, 'deps' | 'request' | 'setting' | 'conversation' | 'held' | 'account'>

/** Keeps the account of one launch: what it has used, with an estimate of its cost until the runtime says. */
export class LaunchAccount {
  readonly #run: Paying
  readonly #meter: CostMeter
  readonly #requests = new RequestCount()
  /** The session's usage before this launch, and by now. */
  readonly #before: UsageTotals
  #now: UsageTotals
  #hasTotals = false
  /** Whether an answer has begun of whose usage nothing was said yet. */
  #isOwed = false
  #isMissing = false
  #isUnwritten = false

  constructor(run: Paying) {
    this.#run = run
    this.#meter = new CostMeter(run.deps.priceOf)
    this.#before = run.held.session.totals ?? NO_TOTALS
    this.#now = this.#before
  }

  /** The part of the cost that cannot be counted, where there is a cap and that is not allowed. */
  get uncounted(): Uncounted | undefined {
    const { conversation, request } = this.#run
    if (conversation.restartBudget.maxCostUsd === undefined || this.#run.setting('allowUnpriced') === true)
      return undefined
    const { reportsCost = false } = request.runtime
    if (this.#isMissing) return { missing: reportsCost ? 'cost' : 'usage' }
    return reportsCost || this.#meter.unpriced === undefined ? undefined : { model: this.#meter.unpriced }
  }

  /** Adds a step. Answers with the session's total usage when that is to be written. */
  take(step: RuntimeStep<unknown>, about: { readonly model: string | undefined; readonly isNewTurn: boolean }) {
    const { totals, events, usedModel } = step
    this.#hasTotals ||= totals !== undefined
    // Who says no totals is counted by its requests.
    const said = totals ?? (this.#hasTotals ? undefined : this.#requests.take(events))
    this.#settle(step, said, about.isNewTurn)
    if (said !== undefined) this.#add(said, usedModel ?? about.model)
    return this.#due(step)
  }

  /** Our own count is written at the end where no cap needs it before: each turn is one commit then. */
  #due({ end }: RuntimeStep<unknown>): UsageTotals | undefined {
    const isCapped = this.#run.conversation.restartBudget.maxCostUsd !== undefined
    if (!this.#isUnwritten || !(this.#hasTotals || isCapped || end !== undefined)) return undefined
    this.#isUnwritten = false
    return this.#now
  }

  /** Every answer is to be counted before the next one begins, and the last one before the agent has come to rest. */
  #settle({ end }: RuntimeStep<unknown>, said: UsageTotals | undefined, isNewTurn: boolean): void {
    const isTold = this.#run.request.runtime.reportsCost === true ? said?.costUsd !== undefined : said !== undefined
    if (isTold) this.#isOwed = false
    this.#isMissing ||= this.#isOwed && isNewTurn
    this.#isOwed = isNewTurn ? !isTold : this.#isOwed
    this.#isMissing ||= this.#isOwed && end?.type === 'idle'
  }

  #add(said: UsageTotals, model: string | undefined): void {
    const now = addTotals(this.#before, this.#meter.take(said, model))
    const more = differenceOf(now, this.#now)
    if (Object.values(more).every((figure) => figure === 0)) return
    this.#run.account.used(more)
    this.#now = now
    this.#isUnwritten = true
  }
}
