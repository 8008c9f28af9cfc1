import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { type Page, type Paged, pageLimit, strangeCursor } from '../../../ports/store/page.ts'

/** Asks for one row more than a page has, so that the last page knows it is the last. */
export const limitOf = (page: Page): number => pageLimit(page) + 1

/** The page, and where it ended. */
export const paged = <Item>(items: readonly Item[], page: Page, keyOf: (item: Item) => Key): Paged<Item> => {
  const limit = pageLimit(page)
  const last = items.length > limit ? items[limit - 1] : undefined
  return defined({ items: items.slice(0, limit), next: last === undefined ? undefined : toCursor(keyOf(last)) })
}

/** The values rows are ordered by. */
export type Key = readonly (string | number)[]

/** The values as a cursor. */
export const toCursor = (key: Key): string => Buffer.from(JSON.stringify(key)).toString('base64url')

/** The values a cursor stands for. @throws RefusedError when the cursor is not one of ours */
export const fromCursor = (cursor: string, parts: number | readonly number[]): readonly (string | number)[] => {
  const key = z.array(z.union([z.string(), z.number()])).refine(({ length }) => [parts].flat().includes(length))
  let raw: unknown
  try {
    raw = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    throw strangeCursor()
  }
  const parsed = key.safeParse(raw)
  if (!parsed.success) throw strangeCursor()
  return parsed.data
}
