import { RefusedError } from '../../domain/unwrap.ts'

/** Where a page ended; opaque, and only meaningful to the list it came from. */
export type Cursor = string

/** Which part of a list to read. Pages are found by key, so the thousandth page costs as much as the first. */
export interface Page {
  /** Continue after this cursor; left out, the list is read from the start. */
  readonly after?: Cursor
  /** At most this many items; 100 unless given, 1,000 at most. */
  readonly limit?: number
}

/** One page of a list. */
export interface Paged<Item> {
  readonly items: readonly Item[]
  /** Absent on the last page. */
  readonly next?: Cursor
}

/** Which end of a list comes first; the oldest unless said otherwise. A cursor belongs to the order it came from. */
export type ListOrder = 'oldest_first' | 'newest_first'

/** The refusal of a cursor that the list it is passed to never gave out. */
export const strangeCursor = (problem = 'it is not a cursor that this list gave out'): RefusedError =>
  new RefusedError({ code: 'input.invalid', fields: [{ field: 'page.after', problem }] })

/** How many items a page has. @throws RefusedError unless it is from 1 to 1,000 */
export const pageLimit = ({ limit = 100 }: Page): number => {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1_000) {
    const problem = `a page has 1 to 1,000 items, not ${limit}`
    throw new RefusedError({ code: 'input.invalid', fields: [{ field: 'page.limit', problem }] })
  }
  return limit
}

/**
 * Every item of a list that comes in pages. The next page is read when its first item is wanted, not before.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs, history } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * for await (const entry of everyPage((page) => history.auditTrail(conversation.id, page))) {
 *   console.log(entry.position, entry.event.type) // => 1 conversation.opened
 * }
 * ```
 */
export async function* everyPage<Item>(
  read: (page: Page) => Promise<Paged<Item>>,
  page: Page = {},
): AsyncGenerator<Item, void, undefined> {
  // The method that reads the first page refuses a page that makes no sense.
  for (let wanted = page; ; ) {
    const { items, next } = await read(wanted)
    yield* items
    if (next === undefined) return
    wanted = { ...page, after: next }
  }
}
