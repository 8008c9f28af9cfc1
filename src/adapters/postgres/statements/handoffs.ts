import { sql } from 'kysely'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { AgentHandoffPort } from '../../../ports/store/agent-handoff-port.ts'
import type { Page, Paged } from '../../../ports/store/page.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { called, type Database, named, readDocuments, reading } from './database.ts'
import { listHandoffs, listPendingHandoffs } from './handoff-list.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** Handoffs, each with the tool calls that led to it. */
export const handoffsIn = (database: Database): AgentHandoffPort => {
  const select = () => selectHandoffs(database)
  return {
    find: (id) => reading(async () => (await readHandoffs(select().where('h.id', '=', id)))[0]),
    findOpenFor: (source) =>
      reading(async () => {
        const open = select()
          .where('h.source_session_id', '=', source)
          .where('h.status', 'in', ['initiated', 'accepted'])
        const inConversation = sql<boolean>`h.conversation_id =
          (select conversation_id from ${named(database, 'agent_sessions')} where id = ${source}::uuid order by 1 limit 1)`
        return (await readHandoffs(open.where(inConversation)))[0]
      }),
    listPendingFor: (agent, page) => reading(() => listPendingHandoffs(database, agent, page)),
    listForConversation: (conversation, page) =>
      reading(() => byAge(select().where('h.conversation_id', '=', conversation), page)),
    list: (filter, page) => reading(() => listHandoffs(database, filter, page)),
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
const byAge = async (query: HandoffQuery, page: Page): Promise<Paged<HandoffMetadata>> => {
  const ordered = query.orderBy('h.initiated_at').orderBy('h.id').limit(limitOf(page))
  const [at, id] = page.after === undefined ? [] : fromCursor(page.after, 2)
  const from =
    at === undefined ? ordered : ordered.where(sql<boolean>`(h.initiated_at, h.id) > (${at}::timestamptz, ${id}::uuid)`)
  return paged(await readHandoffs(from), page, (handoff) => [handoff.initiatedAt, handoff.id])
}
