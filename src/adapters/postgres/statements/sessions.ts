import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { AgentSessionRepository } from '../../../ports/store/agent-session-repository.ts'
import type { Page } from '../../../ports/store/page.ts'
import {
  MOST_SIGNALS_COUNTED,
  type UnfinishedPage,
  type UnfinishedSession,
} from '../../../ports/store/unfinished-session.ts'
import { tokenDigest } from '../../../ports/system/holder-tokens.ts'
import { toMonitor } from '../rows/monitor-row.ts'
import { maybe, reader, time } from '../rows/row-types.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { toStorableText } from '../rows/text-codec.ts'
import { allConditions, byAge, given, noted } from './by-age.ts'
import { type Database, guardedRead, qualified, readDocuments, withRetry } from './database.ts'
import { leaseRow, withoutPlace } from './leases.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** Sessions, one or many. */
export const sessionsIn = (database: Database): AgentSessionRepository => {
  const { kysely } = database
  const select = () => kysely.selectFrom('agent_sessions as s').select(sql<string>`to_jsonb(s)::text`.as('json'))
  const read = async (query: ReturnType<typeof select>): Promise<readonly AgentSession[]> =>
    (await readDocuments(() => query.execute())).map((row) => toWorkingSession(row).session)
  return {
    find: (id) => guardedRead(async () => (await read(select().where('s.id', '=', id)))[0]),
    isHeldBy: (id, holder) =>
      guardedRead(async () => {
        const held = kysely.selectFrom('agent_sessions as s').select('s.id').where('s.id', '=', id)
        const rows = await withRetry(() => held.where(sql`s.holder`, '=', tokenDigest(holder)).execute())
        return rows.length > 0
      }),
    findActive: (conversation) =>
      guardedRead(async () => {
        const active = select().where('s.conversation_id', '=', conversation).where('s.state', '=', 'active')
        return (await read(active))[0]
      }),
    findBaton: (conversation) =>
      guardedRead(async () => {
        const baton = select().where('s.conversation_id', '=', conversation)
        return (await read(baton.where((s) => s.or([s('s.state', '=', 'active'), s('s.held_by', 'is not', null)]))))[0]
      }),
    findLatest: (conversation) =>
      guardedRead(async () => {
        const newest = select().where('s.conversation_id', '=', conversation).orderBy('s.epoch', 'desc').limit(1)
        return (await read(newest))[0]
      }),
    findByProviderSession: (id) =>
      guardedRead(() =>
        read(select().where('s.provider_session_id', '=', toStorableText(id)).orderBy('s.started_at').orderBy('s.id')),
      ),
    listForConversation: (conversation, page) =>
      guardedRead(async () => {
        const all = select().where('s.conversation_id', '=', conversation).orderBy('s.epoch').limit(limitOf(page))
        const from = page.after === undefined ? all : all.where('s.epoch', '>', Number(fromCursor(page.after, 1)[0]))
        return paged(await read(from), page, ({ epoch }) => [epoch])
      }),
    listUnfinished: (page) => guardedRead(() => listUnfinished(database, page)),
    list: ({ conversationId, agentName, state, metadata, order = 'oldest_first' }, page) =>
      guardedRead(async () => {
        const age = byAge('s', 'started_at', { ...page, order })
        const where = allConditions([
          given(conversationId, (id) => sql`s.conversation_id = ${id}::uuid`),
          given(agentName, (agent) => sql`s.agent_name = ${toStorableText(agent)}`),
          given(state, (wanted) => sql`s.state = ${wanted}`),
          noted('s', metadata),
          ...age.from,
        ])
        const query = sql<{
          json: string
        }>`select to_jsonb(s)::text as json from ${qualified(database, 'agent_sessions')} s
          where ${where} order by ${age.order} limit ${age.limit}`
        const rows = await readDocuments(async () => (await query.execute(kysely)).rows)
        const sessions = rows.map((row) => toWorkingSession(row).session)
        return paged(sessions, page, ({ startedAt, id }) => [startedAt, id])
      }),
  }
}

/** A session and its surroundings; a page without sessions is one row that only says the time. */
const row = z.object({
  at: time,
  session: z.unknown(),
  external_key: maybe(z.string()),
  monitor: z.unknown(),
  lease: maybe(leaseRow),
  is_over: maybe(z.boolean()),
  signals: z.number(),
  oldest: maybe(time),
})

const toSurrounded = reader(
  'unfinished session',
  row.transform(({ session, monitor, lease, signals, oldest, ...stored }) => ({
    at: stored.at,
    item: session == null ? undefined : toItem({ session, monitor, lease, signals, oldest, ...stored }),
  })),
)

const toItem = (stored: z.output<typeof row>): UnfinishedSession =>
  defined({
    session: toWorkingSession(stored.session).session,
    conversationKey: stored.external_key,
    monitor: stored.monitor == null ? undefined : toMonitor(stored.monitor),
    lease: stored.lease && { ...withoutPlace(stored.lease), isOver: stored.is_over === true },
    waitingSignals: defined({ count: stored.signals, oldest: stored.oldest }),
  })

/**
 * One page of sessions that have not ended, in one statement. Each state is a list that `agent_sessions_by_state` has in
 * order, and everything around a session is found by its key, so that the past costs nothing.
 */
const listUnfinished = async (database: Database, page: Page): Promise<UnfinishedPage> => {
  const [sessions, signals] = [qualified(database, 'agent_sessions'), qualified(database, 'context_signals')]
  const { from, order, limit } = byAge('s', 'started_at', { ...page, order: 'newest_first' })
  const inState = (state: string) => sql`(select s.* from ${sessions} s
    where ${allConditions([sql`s.state = ${sql.lit(state)}`, ...from])} order by ${order} limit ${limit})`
  // With a limit each is looked up by its key: a join of its own would read the whole table while that is small.
  const around = (table: string, which: RawBuilder<unknown>) =>
    sql`select one.* from ${qualified(database, table)} one where ${which} limit 1`
  const query = sql<{ json: string }>`
    with clock as materialized (select clock_timestamp() as at)
    select jsonb_build_object('at', clock.at, 'session', to_jsonb(s), 'external_key', c.external_key, 'monitor', to_jsonb(m),
        'lease', case when l.session_id is not null then to_jsonb(l) || jsonb_build_object('place', l.expires_at) end,
        'is_over', l.expires_at <= clock.at, 'signals', coalesce(g.count, 0), 'oldest', g.oldest)::text as json
    from clock
    left join (select * from (${inState('active')} union all ${inState('paused')}) s order by ${order} limit ${limit}) s on true
    left join lateral (${around('conversations', sql`one.id = s.conversation_id`)}) c on true
    left join lateral (${around('context_monitors', sql`one.conversation_id = s.conversation_id and one.session_id = s.id`)}) m on true
    left join lateral (${around('session_leases', sql`one.conversation_id = s.conversation_id and one.session_id = s.id`)}) l on true
    left join lateral (
      select count(*)::integer, min(g.queued_at) as oldest from (
        select g.queued_at from ${sessions} heard
        cross join lateral (select g.queued_at, g.id from ${signals} g
          where g.recipient_session_id = heard.id and g.status = 'queued' limit ${sql.lit(MOST_SIGNALS_COUNTED)}) g
        where heard.conversation_id = s.conversation_id
          and (heard.id = s.id or (heard.state = 'handed_off' and heard.epoch < s.epoch))
        order by g.queued_at, g.id limit ${sql.lit(MOST_SIGNALS_COUNTED)}) g) g on true
    order by ${order}`
  const rows = (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toSurrounded)
  const items = rows.flatMap(({ item }) => item ?? [])
  const at = rows[0]?.at
  if (at === undefined) throw new TypeError('The database did not say the time')
  return { ...paged(items, page, ({ session }) => [session.startedAt, session.id]), at }
}
