import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { LineageRecord, LineageSubject } from '../../../domain/history/lineage.ts'
import { toConversation } from '../rows/conversation-row.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { reader } from '../rows/row-types.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { called, type Database, qualified, readDocuments } from './database.ts'

const toLists = reader(
  'lineage',
  z.object({ conversations: z.array(z.unknown()), sessions: z.array(z.unknown()), handoffs: z.array(z.unknown()) }),
)

/** A whole lineage, whatever it is asked for by, in one read. */
export const readLineage = async (database: Database, of: LineageSubject): Promise<LineageRecord | undefined> => {
  const [found] = await readDocuments(async () => (await lineageQuery(database, of).execute(database.kysely)).rows)
  const { conversations, sessions, handoffs } = toLists(found)
  if (conversations.length === 0) return undefined
  return {
    conversations: conversations.map(toConversation),
    sessions: sessions.map((row) => toWorkingSession(row).session),
    handoffs: handoffs.map(toHandoff),
  }
}

const conversationOf = (database: Database, of: LineageSubject): RawBuilder<unknown> => {
  if ('conversationId' in of) return sql`${of.conversationId}::uuid`
  const [table, id] = 'sessionId' in of ? ['agent_sessions', of.sessionId] : ['handoffs', of.handoffId]
  return sql`(select conversation_id from ${qualified(database, table)} where id = ${id}::uuid order by 1 limit 1)`
}

/**
 * Upwards through parents, downwards through threads, with every session and handoff of the line below. Those are
 * found by an array of ids: joined with the recursion, whose length no planner knows, whole tables would be read.
 * Every conversation is taken once, so that parents which were tampered into a ring end the search.
 */
const lineageQuery = (database: Database, of: LineageSubject) => {
  const conversations = qualified(database, 'conversations')
  const handoffs = qualified(database, 'handoffs')
  return sql<{ json: string }>`
    with recursive
    wanted as (select c.* from ${conversations} c where c.id = ${conversationOf(database, of)}),
    ancestor as (
      select c.* from ${conversations} c join wanted w on c.id = w.parent_id
      union
      select c.* from ${conversations} c join ancestor a on c.id = a.parent_id),
    line as (
      select w.* from wanted w
      union
      select c.* from ${conversations} c join line l on c.parent_id = l.id),
    passed as (
      select h as handoff from wanted w
      join ${handoffs} h on h.conversation_id = w.parent_id and h.target_conversation_id = w.id
      where w.parent_id <> all (array(select id from line))
      union all
      select h from ${handoffs} h where h.conversation_id = any (array(select id from line)))
    select jsonb_build_object(
      'conversations', (
        select coalesce(jsonb_agg(to_jsonb(c) order by c.opened_at, c.id), '[]')
        from (select * from ancestor union select * from line) c),
      'sessions', (
        select coalesce(jsonb_agg(to_jsonb(s)), '[]')
        from ${qualified(database, 'agent_sessions')} s where s.conversation_id = any (array(select id from line))),
      'handoffs', (
        select coalesce(jsonb_agg(${called(database, 'handoff_document')}(h.handoff)), '[]')
        from passed h))::text as json`
}
