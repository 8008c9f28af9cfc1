import type { Clock } from '../../ports/system/system.ts'
import { steadyClock } from './steady-clock.ts'

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
