import { instant } from '../../domain/instant.ts'
import type { Clock } from '../../ports/system.ts'

/**
 * The machine's own clock.
 *
 * @example
 * ```ts
 * const store = new MemoryStore({ clock: systemClock })
 * console.log(systemClock.now() <= systemClock.now()) // => true
 * await store[Symbol.asyncDispose]()
 * ```
 */
export const systemClock: Clock = { now: () => instant(Date.now()) }
