declare const brand: unique symbol

/**
 * A moment, as ISO-8601 UTC text of fixed width (`2026-11-16T03:45:34.123Z`).
 *
 * Text rather than `Date`: it cannot be changed by whoever holds it, it sorts as it reads, and it is the same in
 * memory, in JSON, in a row and under a hash. `new Date(instant)` gives the `Date`.
 */
export type Instant = string & { readonly [brand]: 'Instant' }

/**
 * Reads a moment from a `Date`, milliseconds or ISO text.
 *
 * @throws TypeError when it is none of these
 * @example
 * ```ts
 * console.log(instant('2026-11-16T04:45:34+01:00')) // => 2026-11-16T03:45:34.000Z
 * console.log(instant(0) < instant(1)) // => true
 * ```
 */
export const instant = (raw: Date | number | string): Instant => {
  const date = new Date(raw)
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString()
  if (text.length !== 24) throw new TypeError(`An instant needs a date of the years 0 to 9999, got ${String(raw)}`)
  return text as Instant
}

/** The moment so many milliseconds later. */
export const later = (from: Instant, milliseconds: number): Instant => instant(Date.parse(from) + milliseconds)
