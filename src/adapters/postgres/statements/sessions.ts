import { sql } from 'kysely'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { AgentSessionRepository } from '../../../ports/store/agent-session-repository.ts'
import { digestOf } from '../../../ports/system/holder-tokens.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { toStorableText } from '../rows/text-codec.ts'
import { allOf, byAge, given, noted } from './by-age.ts'
import { type Database, named, readDocuments, reading, withRetry } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'
import { listUnfinished } from './unfinished.ts'

/** Sessions, one or many. */
export const sessionsIn = (database: Database): AgentSessionRepository => {
  const { kysely } = database
  const select = () => kysely.selectFrom('agent_sessions as s').select(sql<string>`to_jsonb(s)::text`.as('json'))
  const read = async (query: ReturnType<typeof select>): Promise<readonly AgentSession[]> =>
    (await readDocuments(() => query.execute())).map((row) => toWorkingSession(row).session)
  return {
    find: (id) => reading(async () => (await read(select().where('s.id', '=', id)))[0]),
    isHeldBy: (id, holder) =>
      reading(async () => {
        const held = kysely.selectFrom('agent_sessions as s').select('s.id').where('s.id', '=', id)
        const rows = await withRetry(() => held.where(sql`s.holder`, '=', digestOf(holder)).execute())
        return rows.length > 0
      }),
    findActive: (conversation) =>
      reading(async () => {
        const active = select().where('s.conversation_id', '=', conversation).where('s.state', '=', 'active')
        return (await read(active))[0]
      }),
    findBaton: (conversation) =>
      reading(async () => {
        const baton = select().where('s.conversation_id', '=', conversation)
        return (await read(baton.where((s) => s.or([s('s.state', '=', 'active'), s('s.held_by', 'is not', null)]))))[0]
      }),
    findLatest: (conversation) =>
      reading(async () => {
        const newest = select().where('s.conversation_id', '=', conversation).orderBy('s.epoch', 'desc').limit(1)
        return (await read(newest))[0]
      }),
    findByProviderSession: (id) =>
      reading(() =>
        read(select().where('s.provider_session_id', '=', toStorableText(id)).orderBy('s.started_at').orderBy('s.id')),
      ),
    listForConversation: (conversation, page) =>
      reading(async () => {
        const all = select().where('s.conversation_id', '=', conversation).orderBy('s.epoch').limit(limitOf(page))
        const from = page.after === undefined ? all : all.where('s.epoch', '>', Number(fromCursor(page.after, 1)[0]))
        return paged(await read(from), page, ({ epoch }) => [epoch])
      }),
    listUnfinished: (page) => reading(() => listUnfinished(database, page)),
    list: ({ conversationId, agentName, state, metadata, order = 'oldest_first' }, page) =>
      reading(async () => {
        const age = byAge('s', 'started_at', { ...page, order })
        const where = allOf([
          given(conversationId, (id) => sql`s.conversation_id = ${id}::uuid`),
          given(agentName, (agent) => sql`s.agent_name = ${toStorableText(agent)}`),
          given(state, (wanted) => sql`s.state = ${wanted}`),
          noted('s', metadata),
          ...age.from,
        ])
        const query = sql<{ json: string }>`select to_jsonb(s)::text as json from ${named(database, 'agent_sessions')} s
          where ${where} order by ${age.order} limit ${age.limit}`
        const rows = await readDocuments(async () => (await query.execute(kysely)).rows)
        const sessions = rows.map((row) => toWorkingSession(row).session)
        return paged(sessions, page, ({ startedAt, id }) => [startedAt, id])
      }),
  }
}
