import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { AgentHandoffPort } from '../../../ports/store/agent-handoff-port.ts'
import type { HandoffFilter, OverdueRule } from '../../../ports/store/history-filters.ts'
import type { Page, Paged } from '../../../ports/store/page.ts'
import { askedWords } from '../../../ports/store/word-search.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { maybe, reader } from '../rows/row-types.ts'
import { toStorableText } from '../rows/text-codec.ts'
import { allConditions, byAge, type Condition, given, noted } from './by-age.ts'
import { called, type Database, guardedRead, qualified, readDocuments } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** Handoffs, each with the tool calls that led to it. */
export const handoffsIn = (database: Database): AgentHandoffPort => {
  const select = () => selectHandoffs(database)
  return {
    find: (id) => guardedRead(async () => (await readHandoffs(select().where('h.id', '=', id)))[0]),
    findOpenFor: (source) =>
      guardedRead(async () => {
        const open = select()
          .where('h.source_session_id', '=', source)
          .where('h.status', 'in', ['initiated', 'accepted'])
        const inConversation = sql<boolean>`h.conversation_id =
          (select conversation_id from ${qualified(database, 'agent_sessions')} where id = ${source}::uuid order by 1 limit 1)`
        return (await readHandoffs(open.where(inConversation)))[0]
      }),
    listPendingFor: (agent, page) => guardedRead(() => listPendingHandoffs(database, agent, page)),
    listForConversation: (conversation, page) =>
      guardedRead(() => pageOf(select().where('h.conversation_id', '=', conversation), page)),
    list: (filter, page) => guardedRead(() => listHandoffs(database, filter, page)),
  }
}

/** Handoffs as documents, to be narrowed down. */
const selectHandoffs = (database: Database) =>
  database.kysely
    .selectFrom('handoffs as h')
    .select(sql<string>`${called(database, 'handoff_document')}(h)::text`.as('json'))

type HandoffQuery = ReturnType<typeof selectHandoffs>

const readHandoffs = async (query: HandoffQuery): Promise<readonly HandoffMetadata[]> =>
  (await readDocuments(() => query.execute())).map(toHandoff)

/** One page, oldest first. */
const pageOf = async (query: HandoffQuery, page: Page): Promise<Paged<HandoffMetadata>> => {
  const ordered = query.orderBy('h.initiated_at').orderBy('h.id').limit(limitOf(page))
  const [at, id] = page.after === undefined ? [] : fromCursor(page.after, 2)
  const from =
    at === undefined ? ordered : ordered.where(sql<boolean>`(h.initiated_at, h.id) > (${at}::timestamptz, ${id}::uuid)`)
  return paged(await readHandoffs(from), page, (handoff) => [handoff.initiatedAt, handoff.id])
}

/** The time that a list goes by: what the client said, or that of the database, which decides who waited longer. */
type Time = 'initiated_at' | 'kept_at'

/** One page of handoffs across conversations, by the time they were initiated. What is overdue goes by the database's clock. */
const listHandoffs = async (
  database: Database,
  { order = 'oldest_first', ...filter }: HandoffFilter,
  page: Page,
): Promise<Paged<HandoffMetadata>> => {
  const wanted = filter.reason === undefined ? undefined : askedWords(filter.reason).map((word) => word.join(' '))
  const time: Time = filter.overdue === undefined ? 'initiated_at' : 'kept_at'
  const lists = listsOf(database, filter, wanted)
  return readMerged(database, { ...page, order, time }, lists, foundFirst(database, wanted))
}

/** The handoffs an agent may claim now, oldest first. Handoffs with a current claim are not read. */
const listPendingHandoffs = (database: Database, agent: string, page: Page): Promise<Paged<HandoffMetadata>> => {
  const handoffs = qualified(database, 'handoffs')
  const unclaimed = [isTarget(agent), isIn('initiated'), sql`h.claim_deadline is null`]
  const lapsed = [isTarget(agent), isIn('accepted'), sql`h.claim_deadline <= ${NOW}`]
  // The index has the unclaimed in order behind a deadline that they do not have.
  return readMerged(database, { ...page, time: 'kept_at' }, [
    { table: handoffs, conditions: unclaimed, order: sql`h.claim_deadline, h.kept_at, h.id` },
    { table: handoffs, conditions: lapsed },
  ])
}

/** The times as the database writes them, to the microsecond. */
const toTimes = reader(
  'handoff',
  z
    .object({ initiated_at: z.string(), kept_at: maybe(z.string()) })
    .transform(
      ({ initiated_at, kept_at = initiated_at }): Readonly<Record<Time, string>> => ({ initiated_at, kept_at }),
    ),
)

/** More handoffs than this with the words asked for, and the words count as frequent. */
const FEW = 2_000

/** Some of the rows that are asked for, which an index has in order. */
interface SomeRows {
  readonly table: RawBuilder<unknown>
  readonly conditions: readonly (Condition | undefined)[]
  readonly order?: RawBuilder<unknown>
}

/** Several lists, because a condition with `or` would lead no index to the rows in order. */
const listsOf = (
  database: Database,
  filter: HandoffFilter,
  wanted: readonly string[] | undefined,
): readonly SomeRows[] => {
  const handoffs = qualified(database, 'handoffs')
  const filtered = conditionsOf(filter)
  return sidesOf(filter).flatMap((side) => {
    if (wanted === undefined) return [{ table: handoffs, conditions: [...filtered, ...side] }]
    const met = [sql`not ${IS_FEW}`, says(database, wanted)]
    return [
      { table: sql`found`, conditions: [IS_FEW, ...filtered, ...side] },
      { table: handoffs, conditions: [...met, ...filtered, ...side] },
    ]
  })
}

/** Merges the keys of lists, and then reads the documents of a page: sorting whole rows would read every text in them. */
const readMerged = async (
  database: Database,
  { time, ...page }: Parameters<typeof byAge>[2] & { readonly time: Time },
  lists: readonly SomeRows[],
  before = sql``,
): Promise<Paged<HandoffMetadata>> => {
  const { from, ...age } = byAge('h', time, page)
  const keys = lists.map(
    ({
      table,
      conditions,
      order = age.order,
    }) => sql`(select ${sql.ref(`h.${time}`)} as at, h.id, h.conversation_id from ${table} h
      where ${allConditions([...conditions, ...from])} order by ${order} limit ${age.limit})`,
  )
  const { order, limit } = byAge('p', 'at', page)
  const query = sql<{ json: string }>`${before} select ${called(database, 'handoff_document')}(h)::text as json
    from (select distinct on (p.at, p.id) p.* from (${sql.join(keys, sql` union all `)}) p
      order by ${order} limit ${limit}) p
    cross join lateral (select * from ${qualified(database, 'handoffs')} one
      where one.conversation_id = p.conversation_id and one.id = p.id offset 0) h
    order by ${order}`
  const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  const placed = rows.map((row) => ({ handoff: toHandoff(row), at: toTimes(row)[time] }))
  const { items, ...next } = paged(placed, page, ({ handoff, at }) => [at, handoff.id])
  return { items: items.map(({ handoff }) => handoff), ...next }
}

/** Words are looked up first, up to a bound: then it shows which of both ways is short. */
const foundFirst = (database: Database, wanted: readonly string[] | undefined): RawBuilder<unknown> => {
  if (wanted === undefined) return sql``
  const found =
    wanted.length === 0
      ? sql`select * from ${qualified(database, 'handoffs')} limit 0`
      : sql`select * from ${called(database, 'handoffs_saying')}(${sql.val([...wanted])}::text[], ${FEW + 1})`
  return sql`with found as materialized (${found}),
    counted as materialized (select count(*) <= ${FEW} as is_few from found)`
}

const IS_FEW = sql`(select is_few from counted)`

const says = (database: Database, wanted: readonly string[]): Condition =>
  sql`${called(database, 'says_all')}(h.reason, ${sql.val([...wanted])}::text[])`

/** The lists that make up the answer: an agent may be on either side, and what is open has one status or the other. */
const sidesOf = ({ agent, isOpen, overdue }: HandoffFilter): readonly (readonly Condition[])[] => {
  const agents = agent === undefined ? [[]] : [[isSource(agent)], [isTarget(agent)]]
  const statuses = isOpen === undefined && overdue === undefined ? [[]] : [[isIn('initiated')], [isIn('accepted')]]
  return agents.flatMap((side) => statuses.map((status) => [...side, ...status]))
}

const isSource = (agent: string): Condition => sql`h.source_agent = ${toStorableText(agent)}`
const isTarget = (agent: string): Condition => sql`h.target_agent = ${toStorableText(agent)}`

/** Written out, so that the planner knows the partial index. */
const isIn = (status: string): Condition => sql`h.status = ${sql.lit(status)}`

const conditionsOf = (filter: HandoffFilter): readonly (Condition | undefined)[] => [
  given(filter.conversationId, (id) => sql`h.conversation_id = ${id}::uuid`),
  given(filter.sourceAgent, isSource),
  given(filter.targetAgent, isTarget),
  given(filter.kind, (kind) => sql`h.kind = ${kind}`),
  given(filter.status, isIn),
  given(filter.initiatedFrom, (from) => sql`h.initiated_at >= ${from}::timestamptz`),
  given(filter.initiatedBefore, (before) => sql`h.initiated_at < ${before}::timestamptz`),
  given(filter.overdue, isOverdue),
  noted('h', filter.metadata),
]

/** Read once, as a value: compared row by row it could not lead into an index. */
const NOW = sql`(select clock_timestamp())`

const isOverdue = ({ unclaimedForMs }: OverdueRule): Condition => {
  const lapsed = sql`h.status = 'accepted' and h.claim_deadline <= ${NOW}`
  if (unclaimedForMs === undefined) return lapsed
  return sql`(${lapsed} or h.status = 'initiated'
    and h.kept_at <= ${NOW} - ${unclaimedForMs} * interval '1 millisecond')`
}
