import { differenceOf, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'

/** The price of this usage of a model in dollars; undefined when the list does not have the model. */
export type PriceOf = (model: string, used: UsageTotals) => number | undefined

/**
 * The usage and the cost of one launch: as its runtime reports it, or estimated from list prices until it does. A
 * figure of the runtime replaces every estimate before it.
 */
export class CostMeter {
  readonly #priceOf: PriceOf | undefined
  #last: UsageTotals = NO_TOTALS
  #reportedUsd: number | undefined
  #estimatedUsd = 0
  #unpriced: string | undefined

  constructor(priceOf: PriceOf | undefined) {
    this.#priceOf = priceOf
  }

  /** The model without a list price, or a phrase for a model without a name; undefined when everything has a price. */
  get unpriced(): string | undefined {
    return this.#unpriced
  }

  /** The totals of the launch with their cost, reported or estimated. */
  take(totals: UsageTotals, model: string | undefined): UsageTotals {
    const more = differenceOf(totals, this.#last)
    this.#last = totals
    if (totals.costUsd !== undefined) {
      this.#reportedUsd = totals.costUsd
      this.#estimatedUsd = 0
      this.#unpriced = undefined
      return totals
    }
    this.#estimate(more, model)
    if (this.#reportedUsd === undefined && this.#estimatedUsd === 0) return totals
    const estimatedUsd = this.#estimatedUsd === 0 ? {} : { estimatedUsd: this.#estimatedUsd }
    return { ...totals, costUsd: (this.#reportedUsd ?? 0) + this.#estimatedUsd, ...estimatedUsd }
  }

  #estimate(more: UsageTotals, model: string | undefined): void {
    if (more.inputTokens <= 0 && more.outputTokens <= 0) return
    const usd = model === undefined ? undefined : this.#priceOf?.(model, nothingBelowZero(more))
    if (usd === undefined) this.#unpriced = model ?? 'that the runtime does not name'
    else this.#estimatedUsd += usd
  }
}

const nothingBelowZero = (totals: UsageTotals): UsageTotals =>
  Object.fromEntries(
    Object.entries(totals).map(([name, figure]) => [name, Math.max(0, figure)]),
  ) as unknown as UsageTotals

/** Counts the usage of requests from window events, for runtimes that report no totals. */
export class RequestCount {
  readonly #requests = new Map<string, { prompt: number; output: number }>()
  #totals: UsageTotals = { ...NO_TOTALS, requests: 0 }
  #current = ''

  /** @returns the totals so far, when these events add to them */
  take(events: readonly WindowEvent[]): UsageTotals | undefined {
    const before = this.#totals
    for (const event of events) {
      if (event.type === 'request') this.#raise(event.key, event.promptTokens, event.outputTokens)
      else if (event.type === 'answered' && this.#requests.has(this.#current))
        this.#raise(this.#current, 0, event.outputTokens)
    }
    return this.#totals === before ? undefined : this.#totals
  }

  /** Stores the largest figures of a request: the figures of its parts repeat and grow. */
  #raise(key: string, promptTokens: number, outputTokens: number): void {
    const { prompt, output } = this.#requests.get(key) ?? { prompt: 0, output: 0 }
    const now = { prompt: Math.max(prompt, promptTokens), output: Math.max(output, outputTokens) }
    this.#requests.set(key, now)
    this.#current = key
    const { inputTokens, outputTokens: sum } = this.#totals
    this.#totals = {
      inputTokens: inputTokens + now.prompt - prompt,
      outputTokens: sum + now.output - output,
      requests: this.#requests.size,
    }
  }
}
