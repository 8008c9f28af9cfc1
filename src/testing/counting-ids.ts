import type { IdGenerator } from '../ports/system/system.ts'

/**
 * Ids that count, so that a test reads the same each time. Different seeds never meet in one store.
 *
 * @example
 * ```ts
 * const ids = new CountingIds()
 * console.log(ids.next()) // => 00000000-0000-7000-8000-000000000001
 * ```
 */
export class CountingIds implements IdGenerator {
  readonly #prefix: string
  #count = 0

  constructor(seed = 0) {
    const hex = seed.toString(16).padStart(12, '0')
    this.#prefix = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-`
  }

  next(): string {
    this.#count += 1
    return this.#prefix + this.#count.toString(16).padStart(12, '0')
  }
}
