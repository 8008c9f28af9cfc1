import { type RawBuilder, sql } from 'kysely'
import { agentSessionId } from '../../../domain/kernel/ids.ts'
import { instantIn } from '../../../domain/kernel/instant.ts'
import type { Metadata } from '../../../domain/kernel/metadata.ts'
import { type ListOrder, type Page, strangeCursor } from '../../../ports/store/page.ts'
import { toStorableJson } from '../rows/text-codec.ts'
import { fromCursor, limitOf } from './paging.ts'

/** A condition of a query. */
export type Condition = RawBuilder<unknown>

/** How a list goes by a time and an id: the rows to begin with, the order, and where to stop. */
export interface ByAge {
  readonly from: readonly Condition[]
  readonly order: RawBuilder<unknown>
  readonly limit: number
}

/** One page of a list, by a time column and the id, or another key, of the table that is called `alias`. */
export const byAge = (alias: string, time: string, page: Page & { readonly order?: ListOrder }, key = 'id'): ByAge => {
  const isOldestFirst = page.order !== 'newest_first'
  const [at, id] = [sql.ref(`${alias}.${time}`), sql.ref(`${alias}.${key}`)]
  const direction = sql.raw(isOldestFirst ? 'asc' : 'desc')
  const last = page.after === undefined ? undefined : ageKey(page.after)
  const comparison = sql.raw(isOldestFirst ? '>' : '<')
  return {
    from: last === undefined ? [] : [sql`(${at}, ${id}) ${comparison} (${last.at}::timestamptz, ${last.id}::uuid)`],
    order: sql`${at} ${direction}, ${id} ${direction}`,
    limit: limitOf(page),
  }
}

/** All of these, or no condition at all. */
export const allConditions = (conditions: readonly (Condition | undefined)[]): RawBuilder<unknown> => {
  const given = conditions.filter((condition) => condition !== undefined)
  return given.length === 0 ? sql`true` : sql.join(given, sql` and `)
}

/** A condition on a value, if there is one. */
export const given = <T>(value: T | undefined, condition: (value: T) => Condition): Condition | undefined =>
  value === undefined ? undefined : condition(value)

/** A note that contains another. */
export const noted = (alias: string, metadata: Metadata | undefined): Condition | undefined =>
  given(metadata, (part) => sql`${sql.ref(`${alias}.metadata`)} @> ${toStorableJson(part)}::text::jsonb`)

/** Times of the database have microseconds, which an `Instant` has not: the text stays as it is. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

const ageKey = (cursor: string): { readonly at: string; readonly id: string } => {
  const [at, id] = fromCursor(cursor, 2)
  if (typeof at !== 'string' || !TIME.test(at) || instantIn(at) === undefined) throw strangeCursor()
  try {
    return { at, id: agentSessionId(String(id)) }
  } catch {
    throw strangeCursor()
  }
}
