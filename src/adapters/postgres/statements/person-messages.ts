import { sql } from 'kysely'
import { z } from 'zod'
import {
  COUNTED_PERSON_MESSAGES,
  type PersonMessages,
  type PersonMessagesWanted,
  type PlacedPersonMessage,
} from '../../../domain/checkpoint/carried-words.ts'
import { beginningOf } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import { maybe, place, reader, time } from '../rows/row-types.ts'
import { called, type Database, readDocuments } from './database.ts'

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

/** The answer of the function `person_messages`. */
export const personMessages = z.object({ counted: z.number(), messages: z.array(storedMessage) }).transform(
  ({ counted, messages }): PersonMessages => ({
    messages: messages.map(beginning),
    more: counted - messages.length,
  }),
)

const toPersonMessages = reader('message of a person', personMessages)

/** How much is wanted, as parameters of a function. */
export const WANTED = '%::integer, %::integer, %::integer, %::integer'

export const wantedParameters = ({ most, characters, olderCharacters }: PersonMessagesWanted) =>
  [most, characters, olderCharacters, COUNTED_PERSON_MESSAGES] as const

/** The newest messages of people in a conversation, and how many older ones there are. */
export const readPersonMessages = async (
  database: Database,
  conversation: ConversationId,
  wanted: PersonMessagesWanted,
): Promise<PersonMessages> => {
  const [most, characters, older, counted] = wantedParameters(wanted)
  const query = sql<{ json: string }>`
    select ${called(database, 'person_messages')}(
      ${conversation}::uuid, ${most}::integer, ${characters}::integer, ${older}::integer, ${counted}::integer
    )::text as json`
  const [found] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return toPersonMessages(found)
}

const beginning = (stored: Stored): PlacedPersonMessage => {
  const { text: read, most, stored_length, cut_length, recorded_at: at, sequence_number: sequenceNumber } = stored
  const text = beginningOf(read, most)
  const isWhole = cut_length === undefined && text.length === read.length
  const length = cut_length ?? stored_length ?? read.length
  return defined({ text, sequenceNumber, at, cut: isWhole ? undefined : { length } })
}
