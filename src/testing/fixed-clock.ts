import { type Instant, instant, later } from '../domain/kernel/instant.ts'
import type { Clock } from '../ports/system/system.ts'

/**
 * A clock that stands still until it is told to move.
 *
 * @example
 * ```ts
 * const clock = new FixedClock('2026-11-16T03:45:34Z')
 * clock.advance(60_000)
 * console.log(clock.now()) // => 2026-11-16T03:46:34.000Z
 * ```
 */
export class FixedClock implements Clock {
  #now: Instant

  constructor(start: Date | number | string = '2026-01-01T00:00:00.000Z') {
    this.#now = instant(start)
  }

  now(): Instant {
    return this.#now
  }

  /** Moves the clock on. */
  advance(milliseconds: number): void {
    this.#now = later(this.#now, milliseconds)
  }
}
