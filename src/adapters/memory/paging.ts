import { defined } from '../../domain/kernel/defined.ts'
import { type Page, type Paged, pageLimit, strangeCursor } from '../../ports/store/page.ts'

/** The keys that rows are ordered by: numbers, ids, or a time and an id. */
const KEY = /^(\d{16}(\/\d{16})?|(\S+Z )?[0-9a-f-]{36})$/

/** One page of rows in the order of a key that no two rows share. The key is the cursor. */
export const pageBy = <Row>(rows: readonly Row[], key: (row: Row) => string, page: Page): Paged<Row> => {
  const limit = pageLimit(page)
  const { after = '' } = page
  if (after !== '' && !KEY.test(after)) throw strangeCursor()
  const keyed = rows.map((row) => ({ key: key(row), row })).filter((candidate) => candidate.key > after)
  const items = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit)
  const next = keyed.length > limit ? items.at(-1)?.key : undefined
  return defined({ items: items.map(({ row }) => row), next })
}

/** A number as a key that sorts like the number. */
export const numberKey = (value: number): string => String(value).padStart(16, '0')
