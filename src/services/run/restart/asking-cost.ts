import { totals as totalsCheck } from '../../../domain/input/readings.ts'
import { usable } from '../../../domain/input/window-events.ts'
import { addTotals, differenceOf, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { CostMeter } from '../work/cost-meter.ts'

/** The parts of a run that a question is put to the account of. */
type Paying = Pick<RunInProgress, 'deps' | 'held' | 'account'>

/** Keeps the account of one question to a session, answered or not. */
export class AskingCost {
  readonly #run: Paying
  readonly #meter: CostMeter
  #counted: UsageTotals | undefined

  constructor(run: Paying) {
    this.#run = run
    this.#meter = new CostMeter(run.deps.priceOf)
  }

  /** The usage of the question, as far as is known. */
  get totals(): UsageTotals | undefined {
    return this.#counted
  }

  /** Counts what the runtime says the question has used so far. */
  readonly take = (given: UsageTotals): void => {
    const totals = usable(totalsCheck, given)
    if (totals === undefined) return
    const { held, account } = this.#run
    const now = this.#meter.take(totals, held.model)
    account.used(differenceOf(now, this.#counted ?? NO_TOTALS))
    this.#counted = addTotals(NO_TOTALS, now)
  }

  /** A question that was cut off has sent the whole window: it is counted as that, where the runtime has said nothing. */
  cutOff(): void {
    const { inputTokens } = this.#run.held.figures()
    if (this.#counted === undefined && inputTokens !== null) this.take({ inputTokens, outputTokens: 0, requests: 1 })
  }
}
