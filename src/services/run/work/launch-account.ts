import { addTotals, differenceOf, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { CostMeter, RequestCount } from './cost-meter.ts'
import type { Uncounted } from './limits.ts'

/** The parts of a run that account for a launch. */
export type Paying = Pick<RunInProgress, 'deps' | 'request' | 'setting' | 'conversation' | 'held' | 'account'>

/** The account of one launch: its usage, with an estimate of its cost until the runtime reports it. */
export class LaunchAccount {
  readonly #run: Paying
  readonly #meter: CostMeter
  readonly #requests = new RequestCount()
  /** The session's usage before this launch, and by now. */
  readonly #before: UsageTotals
  #now: UsageTotals
  #hasTotals = false
  /** Whether an answer has begun whose usage was not reported yet. */
  #isOwed = false
  #isMissing = false
  #isUnwritten = false

  constructor(run: Paying) {
    this.#run = run
    this.#meter = new CostMeter(run.deps.priceOf)
    this.#before = run.held.session.totals ?? NO_TOTALS
    this.#now = this.#before
  }

  /** Why the cost cannot be counted, where the cost has a cap and uncounted cost is not allowed. */
  get uncounted(): Uncounted | undefined {
    const { conversation, request } = this.#run
    if (conversation.restartBudget.maxCostUsd === undefined || this.#run.setting('allowUnpriced') === true)
      return undefined
    const { reportsCost = false } = request.runtime
    if (this.#isMissing) return { missing: reportsCost ? 'cost' : 'usage' }
    return reportsCost || this.#meter.unpriced === undefined ? undefined : { model: this.#meter.unpriced }
  }

  /** Adds a step. Answers with the total usage of the session when it is to be stored. */
  take(step: RuntimeStep<unknown>, about: { readonly model: string | undefined; readonly isNewTurn: boolean }) {
    const { totals, events, usedModel } = step
    this.#hasTotals ||= totals !== undefined
    // A runtime that reports no totals is counted by its requests.
    const reported = totals ?? (this.#hasTotals ? undefined : this.#requests.take(events))
    this.#settle(step, reported, about.isNewTurn)
    if (reported !== undefined) this.#add(reported, usedModel ?? about.model)
    return this.#due(step)
  }

  /** Without a cap on the cost, our own count is stored only at the end, so that each turn is one commit. */
  #due({ end }: RuntimeStep<unknown>): UsageTotals | undefined {
    const isCapped = this.#run.conversation.restartBudget.maxCostUsd !== undefined
    if (!this.#isUnwritten || !(this.#hasTotals || isCapped || end !== undefined)) return undefined
    this.#isUnwritten = false
    return this.#now
  }

  /**
   * Notes missing usage: every answer must be counted before the next one begins, and the last one before the agent
   * stops.
   */
  #settle({ end }: RuntimeStep<unknown>, reported: UsageTotals | undefined, isNewTurn: boolean): void {
    const isCounted =
      this.#run.request.runtime.reportsCost === true ? reported?.costUsd !== undefined : reported !== undefined
    if (isCounted) this.#isOwed = false
    this.#isMissing ||= this.#isOwed && isNewTurn
    this.#isOwed = isNewTurn ? !isCounted : this.#isOwed
    this.#isMissing ||= this.#isOwed && end?.type === 'idle'
  }

  #add(reported: UsageTotals, model: string | undefined): void {
    const now = addTotals(this.#before, this.#meter.take(reported, model))
    const more = differenceOf(now, this.#now)
    if (Object.values(more).every((figure) => figure === 0)) return
    this.#run.account.used(more)
    this.#now = now
    this.#isUnwritten = true
  }
}
