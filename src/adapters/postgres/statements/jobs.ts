import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { JobFilter, JobPage, StoredJob, StoredWindow } from '../../../ports/store/job-list.ts'
import type { Page } from '../../../ports/store/page.ts'
import { toConversation } from '../rows/conversation-row.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { maybe, reader, time } from '../rows/row-types.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { byAge } from './by-age.ts'
import { called, type Database, qualified, readDocuments } from './database.ts'
import { leaseRow, withoutPlace } from './leases.ts'
import { paged } from './paging.ts'

const windowRow = z.object({
  session: z.unknown(),
  checkpoint_usd: maybe(z.number()),
  last_turn_at: maybe(time),
  lease: maybe(leaseRow),
  is_over: maybe(z.boolean()),
})

/** A job; a page without jobs is one row that only says the time. */
const toJob = reader(
  'job',
  z
    .object({
      at: time,
      latest_at: maybe(time),
      conversations: z.array(z.unknown()),
      windows: z.array(windowRow),
      handoffs: z.array(z.unknown()),
      restarts: z.number(),
    })
    .transform(({ at, latest_at: latestAt, conversations, windows, handoffs, restarts }) => {
      const [root, ...threads] = conversations.map(toConversation)
      const item: StoredJob | undefined = latestAt &&
        root && {
          latestAt,
          conversations: [root, ...threads] satisfies readonly [Conversation, ...Conversation[]],
          windows: windows.map(toWindow),
          openHandoffs: handoffs.map(toHandoff),
          restarts,
        }
      return { at, item }
    }),
)

const toWindow = (row: z.output<typeof windowRow>): StoredWindow =>
  defined({
    session: toWorkingSession(row.session).session,
    checkpointUsd: row.checkpoint_usd,
    lastTurnAt: row.last_turn_at,
    lease: row.lease && { ...withoutPlace(row.lease), isOver: row.is_over === true },
  })

/**
 * One page of jobs, in one statement. The moments of the time that was asked for are found by index, and what is older
 * only where it has not ended; everything around a job is found by its keys. Every conversation is taken once, so that
 * parents which were tampered into a ring end the search.
 */
export const listJobs = async (database: Database, { since }: JobFilter, page: Page): Promise<JobPage> => {
  const query = jobsQuery(database, since, page)
  const rows = (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toJob)
  const at = rows[0]?.at
  if (at === undefined) throw new TypeError('The database did not say the time')
  const items = rows.flatMap(({ item }) => item ?? [])
  return { ...paged(items, page, ({ latestAt, conversations: [root] }) => [latestAt, root.id]), at }
}

const jobsQuery = (database: Database, since: string, page: Page) => {
  const [conversations, sessions] = [qualified(database, 'conversations'), qualified(database, 'agent_sessions')]
  const [handoffs, turns] = [qualified(database, 'handoffs'), qualified(database, 'turns')]
  const { from, order, limit } = byAge('j', 'latest_at', { ...page, order: 'newest_first' })
  const begunOrEnded = sql`coalesce(s.ended_at, s.started_at)`
  const inState = (state: string): RawBuilder<unknown> =>
    sql`select s.conversation_id, s.started_at from ${sessions} s where s.state = ${sql.lit(state)}`
  const members = sql`any (array(select t.id from tree t where t.root = j.id))`
  const listed = (documents: RawBuilder<unknown>): RawBuilder<unknown> => sql`coalesce((${documents}), '[]'::jsonb)`
  return sql<{ json: string }>`
    with recursive
    clock as materialized (select clock_timestamp() as at),
    moment as (
      select s.conversation_id, ${begunOrEnded} as at from ${sessions} s where ${begunOrEnded} >= ${since}::timestamptz
      union all ${inState('active')}
      union all ${inState('paused')}
      union all select c.id, c.opened_at from ${conversations} c where c.opened_at >= ${since}::timestamptz),
    -- With a limit each parent is looked up by its key: a join of its own would read the whole table.
    line as (
      select m.conversation_id as id, max(m.at) as at from moment m group by 1
      union
      select c.parent_id, l.at from line l
      cross join lateral (select one.parent_id from ${conversations} one where one.id = l.id limit 1) c
      where c.parent_id is not null),
    reached as (select l.id, max(l.at) as latest_at from line l group by 1),
    job as materialized (
      select j.* from reached j
      cross join lateral (select one.parent_id from ${conversations} one where one.id = j.id limit 1) c
      where c.parent_id is null and ${sql.join([sql`true`, ...from], sql` and `)} order by ${order} limit ${limit}),
    tree as (
      select j.id as root, j.id from job j
      union
      select t.root, c.id from tree t
      cross join lateral (select one.id from ${conversations} one where one.parent_id = t.id offset 0) c)
    select jsonb_build_object('at', clock.at, 'latest_at', j.latest_at,
      'conversations', ${listed(sql`select jsonb_agg(to_jsonb(c) order by c.id <> j.id, c.opened_at, c.id)
        from ${conversations} c where c.id = ${members}`)},
      'windows', ${listed(sql`select jsonb_agg(jsonb_build_object('session', to_jsonb(s),
          'checkpoint_usd', (select sum((h.checkpoint -> 'totals' ->> 'costUsd')::double precision) from ${handoffs} h
            where h.conversation_id = s.conversation_id and h.source_session_id = s.id),
          'last_turn_at', (select t.recorded_at from ${turns} t
            where s.ended_at is null and t.conversation_id = s.conversation_id and t.id = s.last_turn_id),
          'lease', case when l.session_id is not null then to_jsonb(l) || jsonb_build_object('place', l.expires_at) end,
          'is_over', l.expires_at <= clock.at) order by s.started_at, s.id)
        from ${sessions} s
        left join lateral (select one.* from ${qualified(database, 'session_leases')} one
          where one.conversation_id = s.conversation_id and one.session_id = s.id limit 1) l on true
        where s.conversation_id = ${members}`)},
      'handoffs', ${listed(sql`select jsonb_agg(${called(database, 'handoff_document')}(h) order by h.initiated_at, h.id)
        from ${handoffs} h where h.conversation_id = ${members} and h.status in ('initiated', 'accepted')`)},
      'restarts', (select count(*) from ${handoffs} h
        where h.conversation_id = ${members} and h.kind = 'context_restart'))::text as json
    from clock left join job j on true order by ${order}`
}
