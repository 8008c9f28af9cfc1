import { sql } from 'kysely'
import { z } from 'zod'
import type { LineageRecord } from '../../domain/lineage.ts'
import type { ConversationRepository } from '../../ports/conversation-repository.ts'
import { toConversation } from './conversation-row.ts'
import { type Database, named, readDocuments, reading } from './database.ts'
import { toHandoff } from './handoff-row.ts'
import { reader } from './row-types.ts'
import { toWorkingSession } from './session-row.ts'
import { toStorableText } from './text-codec.ts'

const toLists = reader(
  'lineage',
  z.object({ conversations: z.array(z.unknown()), sessions: z.array(z.unknown()), handoffs: z.array(z.unknown()) }),
)

/** Conversations, and whole lineages in one read. */
export const conversationsIn = (database: Database): ConversationRepository => {
  const { kysely } = database
  const one = async (column: 'id' | 'external_key', value: string) => {
    const query = kysely.selectFrom('conversations as c').select(sql<string>`to_jsonb(c)::text`.as('json'))
    const [found] = await readDocuments(() => query.where(`c.${column}`, '=', value).execute())
    return found === undefined ? undefined : toConversation(found)
  }
  return {
    find: (id) => reading(() => one('id', id)),
    findByExternalKey: (key) => reading(() => one('external_key', toStorableText(key))),
    lineage: (id) =>
      reading(async () => {
        const [found] = await readDocuments(async () => (await lineageQuery(database, id).execute(kysely)).rows)
        const { conversations, sessions, handoffs } = toLists(found)
        if (conversations.length === 0) return undefined
        const record: LineageRecord = {
          conversations: conversations.map(toConversation),
          sessions: sessions.map((row) => toWorkingSession(row).session),
          handoffs: handoffs.map(toHandoff),
        }
        return record
      }),
  }
}

/** Upwards through parents, downwards through threads, with every session and handoff of the line below. */
const lineageQuery = (database: Database, id: string) => {
  const conversations = named(database, 'conversations')
  return sql<{ json: string }>`
    with recursive
    ancestor as (
      select c.* from ${conversations} c where c.id = (select parent_id from ${conversations} where id = ${id}::uuid)
      union all
      select c.* from ${conversations} c join ancestor a on c.id = a.parent_id),
    line as (
      select c.* from ${conversations} c where c.id = ${id}::uuid
      union all
      select c.* from ${conversations} c join line l on c.parent_id = l.id)
    select jsonb_build_object(
      'conversations', (
        select coalesce(jsonb_agg(to_jsonb(c)), '[]')
        from (select * from ancestor union all select * from line) c),
      'sessions', (
        select coalesce(jsonb_agg(to_jsonb(s)), '[]')
        from ${named(database, 'agent_sessions')} s join line on s.conversation_id = line.id),
      'handoffs', (
        select coalesce(jsonb_agg(${named(database, 'handoff_document')}(h)), '[]')
        from ${named(database, 'handoffs')} h
        where h.conversation_id in (select id from line)
          or (h.conversation_id = (select parent_id from ${conversations} where id = ${id}::uuid)
              and h.target_conversation_id = ${id}::uuid)))::text as json`
}
