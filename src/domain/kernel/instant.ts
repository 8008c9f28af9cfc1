declare const brand: unique symbol

/**
 * A moment, as ISO-8601 UTC text of fixed width (`2026-11-16T03:45:34.123Z`).
 *
 * Text rather than `Date`: nobody can change it, it sorts by time, and it is the same in memory, in JSON, in a row
 * and under a hash. `new Date(instant)` gives the `Date`.
 */
export type Instant = string & { readonly [brand]: 'Instant' }

/**
 * Reads a moment from a `Date`, milliseconds or ISO text.
 *
 * @throws TypeError when it is anything else
 * @example
 * ```ts
 * console.log(instant('2026-11-16T04:45:34+01:00')) // => 2026-11-16T03:45:34.000Z
 * console.log(instant(0) < instant(1)) // => true
 * ```
 */
export const instant = (raw: Date | number | string): Instant => {
  const time = new Date(raw).getTime()
  // Databases have no year 0: the year before 1 is 1 BC.
  if (!(time >= EARLIEST && time <= LATEST))
    throw new TypeError(`An instant needs a date of the years 1 to 9999, got ${String(raw)}`)
  return new Date(time).toISOString() as Instant
}

/** Reads a moment from a foreign text; `undefined` when it cannot be read. */
export const instantIn = (raw: unknown): Instant | undefined => {
  const time = typeof raw === 'string' ? Date.parse(raw) : Number.NaN
  return time >= EARLIEST && time <= LATEST ? instant(time) : undefined
}

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** The moment so many milliseconds later. */
export const later = (from: Instant, milliseconds: number): Instant => instant(Date.parse(from) + milliseconds)
