import { sql } from 'kysely'
import { z } from 'zod'
import type { WindowAtTurn } from '../../../domain/history/window-at-turn.ts'
import type { TurnId } from '../../../domain/kernel/ids.ts'
import { type Message, type MessageInHistory, sessionOpening } from '../../../domain/turn/message.ts'
import type { Turn } from '../../../domain/turn/turn.ts'
import type { MessageRepository } from '../../../ports/store/message-repository.ts'
import type { Page, Paged } from '../../../ports/store/page.ts'
import { toMessage, toTurn } from '../rows/record-rows.ts'
import { aConversation, aSession, aTurn, place, reader, time, toolCall, usage } from '../rows/row-types.ts'
import { toStorableJson } from '../rows/text-codec.ts'
import { called, type Database, guardedRead, qualified, readDocuments } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'
import { readPersonMessages } from './person-messages.ts'

const toToolCalls = reader('tool call', z.array(toolCall))

/** Turns with their tool calls, and messages with the handoffs they have to do with. */
export const messagesIn = (database: Database): MessageRepository => {
  const { kysely } = database
  const turnDocument = sql<string>`(to_jsonb(t) || jsonb_build_object('tool_calls',
    ${called(database, 'tool_calls_within')}(t.conversation_id, t.session_id, t.start_sequence, t.end_sequence)))::text`
  const turns = () => kysely.selectFrom('turns as t').select(turnDocument.as('json'))
  const readTurns = async (query: ReturnType<typeof turns>): Promise<readonly Turn[]> =>
    (await readDocuments(() => query.execute())).map(toTurn)
  const messages = () => kysely.selectFrom('messages as m').select(messageDocument(database).as('json'))
  const readPage = async (query: ReturnType<typeof messages>, page: Page): Promise<Paged<MessageInHistory>> => {
    const all = query.orderBy('m.sequence_number').limit(limitOf(page))
    const from =
      page.after === undefined ? all : all.where('m.sequence_number', '>', Number(fromCursor(page.after, 1)[0]))
    const read: readonly MessageInHistory[] = (await readDocuments(() => from.execute())).map(toMessage)
    return paged(read, page, ({ sequenceNumber }) => [sequenceNumber])
  }
  return {
    findTurn: (id) => guardedRead(async () => (await readTurns(turns().where('t.id', '=', id)))[0]),
    findWindowAt: (id) => guardedRead(() => readWindowAt(database, id)),
    findOpening: (session) =>
      guardedRead(async () => {
        const rows = await readDocuments(() =>
          kysely
            .selectFrom('messages as m')
            .innerJoin('agent_sessions as s', (join) =>
              join
                .onRef('s.conversation_id', '=', 'm.conversation_id')
                .on(isOpeningPlace)
                .onRef('s.id', '=', 'm.session_id'),
            )
            .select(messageDocument(database).as('json'))
            .where('s.id', '=', session)
            .where('m.turn_id', 'is', null)
            .orderBy('m.sequence_number')
            .execute(),
        )
        return sessionOpening(rows.map(toMessage).map(({ metadata: _, ...message }) => message))
      }),
    listLatest: (session, most) =>
      guardedRead(async () => {
        const conversation = sql<string>`(select conversation_id from ${qualified(database, 'agent_sessions')} where id = ${session}::uuid order by 1 limit 1)`
        const rows = await readDocuments(() =>
          kysely
            .selectFrom('messages as m')
            .select(messageDocument(database).as('json'))
            .where('m.conversation_id', '=', conversation)
            .where('m.session_id', '=', session)
            .where('m.turn_id', 'is not', null)
            .orderBy('m.sequence_number', 'desc')
            .limit(Math.max(0, most))
            .execute(),
        )
        return rows.map((row) => withoutMetadata(toMessage(row))).reverse()
      }),
    findToolCalls: (conversation, callIds) =>
      guardedRead(async () => {
        const list = sql`array(select jsonb_array_elements_text(${toStorableJson([...new Set(callIds)])}::text::jsonb))`
        const query = sql<{ json: string }>`select
          ${called(database, 'named_tool_calls')}(${conversation}::uuid, ${list})::text as json`
        const [calls] = await readDocuments(async () => (await query.execute(kysely)).rows)
        return toToolCalls(calls)
      }),
    findPersonMessages: (conversation, wanted) => guardedRead(() => readPersonMessages(database, conversation, wanted)),
    listTurns: (session, page) =>
      guardedRead(async () => {
        const conversation = sql<string>`(select conversation_id from ${qualified(database, 'agent_sessions')} where id = ${session}::uuid order by 1 limit 1)`
        const all = turns().where('t.conversation_id', '=', conversation).where('t.session_id', '=', session)
        const from = page.after === undefined ? all : all.where('t.number', '>', Number(fromCursor(page.after, 1)[0]))
        return paged(await readTurns(from.orderBy('t.number').limit(limitOf(page))), page, ({ number }) => [number])
      }),
    listMessages: (conversation, page) =>
      guardedRead(() => readPage(messages().where('m.conversation_id', '=', conversation), page)),
    listSessionMessages: (session, page) =>
      guardedRead(() => {
        const held = sql`select conversation_id, start_sequence from ${qualified(database, 'agent_sessions')}
          where id = ${session}::uuid order by 1 limit 1`
        // Nothing of a session stands before its start, so that is where the index is entered.
        const ofSession = messages()
          .where('m.conversation_id', '=', sql<string>`(select conversation_id from (${held}) as held)`)
          .where('m.sequence_number', '>=', sql<number>`(select start_sequence from (${held}) as held)`)
          .where('m.session_id', '=', session)
        return readPage(ofSession, page)
      }),
  }
}

/** Hooks, Batonpass and a person say one thing each before the first turn. */
const isOpeningPlace = sql<boolean>`m.sequence_number between s.start_sequence and s.start_sequence + 2`

const withoutMetadata = ({ metadata: _, ...message }: MessageInHistory): Message => message

const messageDocument = (database: Database) => sql<string>`(to_jsonb(m) || jsonb_build_object(
  'led_to', (
    select h.id from ${qualified(database, 'handoffs')} h
    where h.conversation_id = m.conversation_id and h.prior_turn_id = m.turn_id
    order by h.initiated_at desc, h.id desc limit 1),
  'continues', (
    select s.initiated_by_handoff from ${qualified(database, 'agent_sessions')} s
    where s.conversation_id = m.conversation_id and s.id = m.session_id
      and (m.turn_id is null or 1 = (
        select t.number from ${qualified(database, 'turns')} t
        where t.conversation_id = m.conversation_id and t.id = m.turn_id)))))::text`

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
const readWindowAt = async (database: Database, id: TurnId): Promise<WindowAtTurn | undefined> => {
  const query = sql<{ json: string }>`
    select (to_jsonb(t) || jsonb_build_object(
      'first_sequence', held.first,
      'roles', held.roles,
      'tool_calls', ${called(database, 'tool_calls_within')}(t.conversation_id, t.session_id, held.first, t.end_sequence)
    ))::text as json
    from ${qualified(database, 'turns')} t
    join ${qualified(database, 'agent_sessions')} s on s.conversation_id = t.conversation_id and s.id = t.session_id
    cross join lateral ${called(database, 'truncated_to')}(t.session_id, t.start_sequence) as gone (truncated_to)
    cross join lateral (
      select min(spoken.first) as first, jsonb_object_agg(spoken.role, spoken.messages) as roles
      from (
        select m.role, count(*) as messages, min(m.sequence_number) as first
        from ${qualified(database, 'messages')} m
        where m.conversation_id = t.conversation_id and m.session_id = t.session_id
          and m.sequence_number between s.start_sequence and t.end_sequence
          and m.sequence_number > gone.truncated_to
        group by m.role) spoken) held
    where t.id = ${id}::uuid`
  const [found] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return found === undefined ? undefined : toWindowAt(found)
}
