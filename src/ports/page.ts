/** Where a page ended; opaque, and only meaningful to the list it came from. */
export type Cursor = string

/** Which part of a list to read. Pages go by key, so the thousandth costs what the first did. */
export interface Page {
  /** Go on after this cursor; left out means from the start. */
  readonly after?: Cursor
  /** At most so many items; 100 unless said otherwise, 1,000 at most. */
  readonly limit?: number
}

/** One page of a list. */
export interface Paged<Item> {
  readonly items: readonly Item[]
  /** Absent on the last page. */
  readonly next?: Cursor
}

/** How many items a page has. @throws RangeError unless it is from 1 to 1,000 */
export const pageLimit = ({ limit = 100 }: Page): number => {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1_000) {
    throw new RangeError(`A page has 1 to 1,000 items, got ${limit}`)
  }
  return limit
}
