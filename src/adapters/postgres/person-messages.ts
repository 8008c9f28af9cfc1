import { sql } from 'kysely'
import { z } from 'zod'
import { beginningOf } from '../../domain/kernel/cut-text.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import {
  COUNTED_PERSON_MESSAGES,
  type PersonMessages,
  type PersonMessagesWanted,
  type PlacedPersonMessage,
} from '../../ports/person-messages.ts'
import { type Database, named, readDocuments } from './database.ts'
import { maybe, place, reader, time } from './row-types.ts'

/** The end of what is read may be half of an escaped character; so much more is read, and cut off again. */
const ROOM_FOR_AN_ESCAPE = 8

const storedMessage = z.object({
  text: z.string(),
  most: z.number(),
  /** How many characters are stored; only where it may be more than are read. */
  stored_length: maybe(z.number()),
  cut_length: maybe(z.number()),
  recorded_at: time,
  sequence_number: place,
})

type Stored = z.output<typeof storedMessage>

const toAnswer = reader('message of a person', z.object({ counted: z.number(), messages: z.array(storedMessage) }))

/** The newest messages of people in a conversation, and how many older ones there are: one statement, one index. */
export const readPersonMessages = async (
  database: Database,
  conversation: ConversationId,
  { most, characters, olderCharacters }: PersonMessagesWanted,
): Promise<PersonMessages> => {
  const messages = named(database, 'messages')
  const query = sql<{ json: string }>`
    select jsonb_build_object(
      'counted', (
        select count(*) from (
          select from ${messages} m where m.conversation_id = ${conversation}::uuid and m.origin = 'person'
          limit ${COUNTED_PERSON_MESSAGES}) counted),
      'messages', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'text', left(read.text, read.most + ${ROOM_FOR_AN_ESCAPE}::integer), 'most', read.most,
          'stored_length', case when octet_length(read.text) > read.most then char_length(read.text) end,
          'cut_length', read.cut_length, 'recorded_at', read.recorded_at, 'sequence_number', read.sequence_number
        ) order by read.sequence_number desc), '[]')
        from (
          select newest.*, case
            when coalesce(sum(octet_length(newest.text)) over (
              order by newest.sequence_number desc rows between unbounded preceding and 1 preceding), 0) > ${characters}
            then ${olderCharacters}::integer else ${characters}::integer end as most
          from (
            select m.sequence_number, m.text, m.cut_length, m.recorded_at from ${messages} m
            where m.conversation_id = ${conversation}::uuid and m.origin = 'person'
            order by m.sequence_number desc limit ${most}) newest) read)
    )::text as json`
  const [found] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  const answer = toAnswer(found)
  return { messages: answer.messages.map(beginning), more: answer.counted - answer.messages.length }
}

const beginning = (stored: Stored): PlacedPersonMessage => {
  const { text: read, most, stored_length, cut_length, recorded_at: at, sequence_number: sequenceNumber } = stored
  const text = beginningOf(read, most)
  const isWhole = cut_length === undefined && text.length === read.length
  const length = cut_length ?? stored_length ?? read.length
  return defined({ text, sequenceNumber, at, cut: isWhole ? undefined : { length } })
}
