import { sql } from 'kysely'
import { z } from 'zod'
import type { WindowAtTurn } from '../../../domain/history/window-at-turn.ts'
import type { TurnId } from '../../../domain/kernel/ids.ts'
import { aConversation, aSession, aTurn, place, reader, time, toolCall, usage } from '../rows/row-types.ts'
import { called, type Database, named, readDocuments } from './database.ts'

/** Only roles that spoke come back. */
const count = z.number().default(0)
const counts = z.object({ user: count, assistant: count, tool: count, system: count })

const row = z.object({
  conversation_id: aConversation,
  session_id: aSession,
  id: aTurn,
  number: z.number(),
  recorded_at: time,
  usage,
  first_sequence: place,
  end_sequence: place,
  roles: counts,
  tool_calls: z.array(toolCall),
})

const toWindowAt = reader(
  'window',
  row.transform(
    (stored): WindowAtTurn => ({
      conversationId: stored.conversation_id,
      sessionId: stored.session_id,
      turnId: stored.id,
      turnNumber: stored.number,
      recordedAt: stored.recorded_at,
      usage: stored.usage,
      messages: stored.roles,
      range: { start: stored.first_sequence, end: stored.end_sequence },
      visibleToolCalls: stored.tool_calls,
    }),
  ),
)

/** The content of a session's window after a turn, counted from its messages. */
export const readWindowAt = async (database: Database, id: TurnId): Promise<WindowAtTurn | undefined> => {
  const query = sql<{ json: string }>`
    select (to_jsonb(t) || jsonb_build_object(
      'first_sequence', held.first,
      'roles', held.roles,
      'tool_calls', ${called(database, 'tool_calls_within')}(t.conversation_id, t.session_id, held.first, t.end_sequence)
    ))::text as json
    from ${named(database, 'turns')} t
    join ${named(database, 'agent_sessions')} s on s.conversation_id = t.conversation_id and s.id = t.session_id
    cross join lateral ${called(database, 'truncated_to')}(t.session_id, t.start_sequence) as gone (truncated_to)
    cross join lateral (
      select min(spoken.first) as first, jsonb_object_agg(spoken.role, spoken.messages) as roles
      from (
        select m.role, count(*) as messages, min(m.sequence_number) as first
        from ${named(database, 'messages')} m
        where m.conversation_id = t.conversation_id and m.session_id = t.session_id
          and m.sequence_number between s.start_sequence and t.end_sequence
          and m.sequence_number > gone.truncated_to
        group by m.role) spoken) held
    where t.id = ${id}::uuid`
  const [found] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return found === undefined ? undefined : toWindowAt(found)
}
