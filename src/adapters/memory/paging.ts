import { defined } from '../../domain/defined.ts'
import { type Page, type Paged, pageLimit } from '../../ports/page.ts'

/** One page of rows in the order of a key that no two rows share. The key is the cursor. */
export const pageBy = <Row>(rows: readonly Row[], key: (row: Row) => string, page: Page): Paged<Row> => {
  const limit = pageLimit(page)
  const { after = '' } = page
  const keyed = rows.map((row) => ({ key: key(row), row })).filter((candidate) => candidate.key > after)
  const items = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit)
  const next = keyed.length > limit ? items.at(-1)?.key : undefined
  return defined({ items: items.map(({ row }) => row), next })
}

/** A number as a key that sorts like the number. */
export const numberKey = (value: number): string => String(value).padStart(16, '0')
