import type { MonitorReport } from '../../domain/window/monitor-reports.ts'
import { RecordedMonitor } from './recorded-monitor.ts'

/** The effect of one threshold on its own. */
export interface ThresholdReplay {
  readonly at: number
  /** How often it would have been reached, once per cycle. */
  readonly times: number
  readonly firstTurn?: number
}

/** Counts how often each threshold would have been reached, as if it were the only one. */
export class Thresholds {
  readonly #monitor: RecordedMonitor
  readonly #seen: Map<number, { times: number; firstTurn?: number }>

  constructor(thresholds: readonly number[], limit: number | undefined) {
    const rising = [...new Set(thresholds)].sort((one, other) => one - other)
    this.#seen = new Map(rising.map((at) => [at, { times: 0 }]))
    this.#monitor = new RecordedMonitor(
      rising.map((at) => ({ name: `${at}`, at })),
      limit,
    )
  }

  take(report: MonitorReport, turn: number): void {
    for (const { at } of this.#monitor.take(report).spent) {
      const { times = 0, firstTurn = turn } = this.#seen.get(at) ?? {}
      this.#seen.set(at, { times: times + 1, firstTurn })
    }
  }

  result(): readonly ThresholdReplay[] {
    return [...this.#seen].map(([at, seen]) => ({ at, ...seen }))
  }
}

const COLUMNS = 120

/** The fullest of each stretch of turns; stretches are joined in pairs whenever there are too many. */
export class Chart {
  #columns: number[] = []
  #stretch = 1

  see(turn: number, ratio: number): void {
    const index = Math.floor((turn - 1) / this.#stretch)
    // Turns before the window was known have no height.
    while (this.#columns.length <= index) this.#columns.push(0)
    this.#columns[index] = Math.max(this.#columns[index] ?? 0, ratio)
    while (this.#columns.length > COLUMNS) this.#halve()
  }

  columns(): readonly number[] {
    return this.#columns
  }

  #halve(): void {
    this.#columns = Array.from({ length: Math.ceil(this.#columns.length / 2) }, (_, pair) =>
      Math.max(this.#columns[pair * 2] ?? 0, this.#columns[pair * 2 + 1] ?? 0),
    )
    this.#stretch *= 2
  }
}
