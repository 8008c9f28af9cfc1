import { defined } from '../domain/kernel/defined.ts'
import type { WindowSample } from '../domain/window/window-history.ts'

/** What one threshold on its own would have done. */
export interface ThresholdReplay {
  readonly at: number
  /** How often it would have been reached, once per cycle. */
  readonly times: number
  readonly firstTurn?: number
}

/** Counts how often one threshold would have been reached. */
export class Threshold {
  readonly #at: number
  #times = 0
  #firstTurn: number | undefined
  #reachedIn = -1

  constructor(at: number) {
    this.#at = at
  }

  see({ ratio, cycle, turn }: WindowSample): void {
    if (ratio === undefined || ratio < this.#at || this.#reachedIn === cycle) return
    this.#reachedIn = cycle
    this.#times += 1
    this.#firstTurn ??= turn
  }

  result(): ThresholdReplay {
    return defined({ at: this.#at, times: this.#times, firstTurn: this.#firstTurn })
  }
}

const COLUMNS = 120

/** The fullest of each stretch of turns; stretches are joined in pairs whenever there are too many. */
export class Chart {
  #columns: number[] = []
  #stretch = 1

  see({ turn, ratio }: WindowSample): void {
    if (ratio === undefined) return
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
