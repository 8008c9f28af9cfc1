import { addTotals, differenceOf, NO_TOTALS } from '../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'
import type { RuntimeStep } from '../../ports/agent-runtime.ts'
import { CostMeter, RequestCount } from './cost-meter.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** Keeps the account of one launch: what it has used, with an estimate of its cost until the runtime says. */
export class LaunchAccount {
  readonly #run: RunInProgress
  readonly #meter: CostMeter
  readonly #requests = new RequestCount()
  /** The session's usage before this launch. */
  readonly #before: UsageTotals
  #isToldTotals = false

  constructor(run: RunInProgress) {
    this.#run = run
    this.#meter = new CostMeter(run.deps.priceOf)
    this.#before = run.held.session.totals ?? NO_TOTALS
  }

  /** The model that has no price, where the cost has a cap and that is not allowed. */
  get unpriced(): string | undefined {
    const isAllowed = !this.#isCapped || this.#run.setting('allowUnpriced') === true
    return isAllowed || this.#run.request.runtime.reportsCost === true ? undefined : this.#meter.unpriced
  }

  get #isCapped(): boolean {
    return this.#run.conversation.restartBudget.maxCostUsd !== undefined
  }

  /** Adds a step. Answers with the session's total usage, or with nothing when the step brings nothing new. */
  take({ totals, events, usedModel }: RuntimeStep<unknown>, model: string | undefined): UsageTotals | undefined {
    this.#isToldTotals ||= totals !== undefined
    // Who says no totals is counted by its requests, where there is a cap to keep.
    const said = totals ?? (this.#isCapped && !this.#isToldTotals ? this.#requests.take(events) : undefined)
    if (said === undefined) return undefined
    const now = addTotals(this.#before, this.#meter.take(said, usedModel ?? model))
    const { totals: known = this.#before } = this.#run.held.session
    const more = differenceOf(now, known)
    if (Object.values(more).every((figure) => figure === 0)) return undefined
    this.#run.account(more)
    return now
  }
}
