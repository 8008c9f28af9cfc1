import { type RawBuilder, sql } from 'kysely'
import type { HandoffMetadata } from '../../domain/handoff.ts'
import type { HandoffFilter, OverdueRule } from '../../ports/history-filters.ts'
import type { Page, Paged } from '../../ports/page.ts'
import { askedWords } from '../../ports/word-search.ts'
import { allOf, byAge, type Condition, given, noted } from './by-age.ts'
import { type Database, named, readDocuments } from './database.ts'
import { toHandoff } from './handoff-row.ts'
import { paged } from './paging.ts'
import { toStorableText } from './text-codec.ts'

/** One page of handoffs across conversations, by the time they were initiated. */
export const listHandoffs = async (
  database: Database,
  { order = 'oldest_first', ...filter }: HandoffFilter,
  page: Page,
): Promise<Paged<HandoffMetadata>> => {
  const query = listQuery(database, filter, { ...page, order })
  const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return paged(rows.map(toHandoff), page, ({ initiatedAt, id }) => [initiatedAt, id])
}

/** An agent on either side is two lists merged: one condition with `or` would lead no index to the rows in order. */
const listQuery = (database: Database, filter: HandoffFilter, page: Parameters<typeof byAge>[2]) => {
  const { agent, ...rest } = filter
  const document = named(database, 'handoff_document')
  const some = (side: HandoffFilter) => {
    const { from, order, limit } = byAge('h', 'initiated_at', page)
    const where = allOf([...conditionsOf(database, rest), ...conditionsOf(database, side), ...from])
    return sql`select h.initiated_at, h.id, h as handoff from ${named(database, 'handoffs')} h
      where ${where} order by ${order} limit ${limit}`
  }
  const { order, limit } = byAge('p', 'initiated_at', page)
  const list: RawBuilder<unknown> =
    agent === undefined
      ? some({})
      : sql`select distinct on (p.initiated_at, p.id) p.*
          from ((${some({ sourceAgent: agent })}) union all (${some({ targetAgent: agent })})) p
          order by ${order} limit ${limit}`
  return sql<{ json: string }>`select ${document}(p.handoff)::text as json from (${list}) p order by ${order}`
}

const conditionsOf = (database: Database, filter: HandoffFilter): readonly (Condition | undefined)[] => [
  given(filter.conversationId, (id) => sql`h.conversation_id = ${id}::uuid`),
  given(filter.sourceAgent, (agent) => sql`h.source_agent = ${toStorableText(agent)}`),
  given(filter.targetAgent, (agent) => sql`h.target_agent = ${toStorableText(agent)}`),
  given(filter.kind, (kind) => sql`h.kind = ${kind}`),
  given(filter.status, (status) => sql`h.status = ${status}`),
  given(filter.initiatedFrom, (from) => sql`h.initiated_at >= ${from}::timestamptz`),
  given(filter.initiatedBefore, (before) => sql`h.initiated_at < ${before}::timestamptz`),
  given(filter.isOpen, () => OPEN),
  given(filter.overdue, isOverdue),
  noted('h', filter.metadata),
  given(filter.reason, (reason) => saysAll(database, reason)),
]

/** In the words of the partial index, so that the planner knows it. */
const OPEN = sql`h.status in ('initiated', 'accepted')`

/** Read once, as a value: compared row by row it could not lead into an index. */
const NOW = sql`(select clock_timestamp())`

const isOverdue = ({ unclaimedForMs }: OverdueRule): Condition => {
  const lapsed = sql`h.status = 'accepted' and h.claim_deadline <= ${NOW}`
  if (unclaimedForMs === undefined) return sql`${OPEN} and ${lapsed}`
  const longAgo = sql`h.initiated_at <= ${NOW} - ${unclaimedForMs} * interval '1 millisecond'`
  return sql`${OPEN} and (${lapsed} or h.status = 'initiated' and ${longAgo})`
}

const saysAll = (database: Database, reason: string): Condition => {
  const words = sql`${named(database, 'search_words')}(h.reason)`
  const wanted = askedWords(reason).map((spellings) => sql`${words} && ${sql.val([...spellings])}::text[]`)
  return wanted.length === 0 ? sql`false` : allOf(wanted)
}
