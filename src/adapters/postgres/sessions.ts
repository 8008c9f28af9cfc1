import { sql } from 'kysely'
import type { AgentSession } from '../../domain/agent-session.ts'
import type { AgentSessionRepository } from '../../ports/agent-session-repository.ts'
import { type Database, readDocuments, reading } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'
import { toWorkingSession } from './session-row.ts'
import { toStorableText } from './text-codec.ts'

/** Sessions, one or many. */
export const sessionsIn = ({ kysely }: Database): AgentSessionRepository => {
  const select = () => kysely.selectFrom('agent_sessions as s').select(sql<string>`to_jsonb(s)::text`.as('json'))
  const read = async (query: ReturnType<typeof select>): Promise<readonly AgentSession[]> =>
    (await readDocuments(() => query.execute())).map((row) => toWorkingSession(row).session)
  return {
    find: (id) => reading(async () => (await read(select().where('s.id', '=', id)))[0]),
    findActive: (conversation) =>
      reading(async () => {
        const active = select().where('s.conversation_id', '=', conversation).where('s.state', '=', 'active')
        return (await read(active))[0]
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
  }
}
