import { instant } from '../../domain/kernel/instant.ts'
import type { Clock } from '../../ports/system/system.ts'

/** A clock that is set back by more than this was wrong before, and its new time is taken. */
const MOST_SET_BACK_MS = 300_000

/**
 * A clock that does not go back. Machines are set back by a little all the time; until they have caught up it says the
 * latest time again, so that the times one process records are in order.
 */
export const steadyClock = (read: () => number): Clock => {
  let latest = Number.NEGATIVE_INFINITY
  return {
    now: () => {
      const time = read()
      const behindMs = latest - time
      if (behindMs <= 0 || behindMs > MOST_SET_BACK_MS) latest = time
      return instant(latest)
    },
  }
}

/**
 * The machine's own clock, as it goes forward.
 *
 * @example
 * ```ts
 * const store = new MemoryStore({ clock: systemClock })
 * console.log(systemClock.now() <= systemClock.now()) // => true
 * await store[Symbol.asyncDispose]()
 * ```
 */
export const systemClock: Clock = steadyClock(() => Date.now())
