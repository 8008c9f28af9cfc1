import {
  COUNTED_PERSON_MESSAGES,
  type PersonMessages,
  type PersonMessagesWanted,
  type PlacedPersonMessage,
} from '../../domain/checkpoint/carried-words.ts'
import { beginningOf } from '../../domain/kernel/cut-text.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { Message } from '../../domain/turn/message.ts'
import type { Tables } from './tables.ts'

const utf8 = new TextEncoder()

/** The newest messages of people in a conversation, and how many older ones there are. */
export const personMessagesIn = (
  tables: Tables,
  conversation: ConversationId,
  { most, characters, olderCharacters }: PersonMessagesWanted,
): PersonMessages => {
  const all = tables.messages
    .in('personsOf', conversation)
    .toSorted((a, b) => b.sequenceNumber - a.sequenceNumber)
    .slice(0, COUNTED_PERSON_MESSAGES)
  const newest = all.slice(0, most)
  let newerBytes = 0
  const messages = newest.map((message) => {
    const read = beginning(message, newerBytes > characters ? olderCharacters : characters)
    newerBytes += utf8.encode(message.text).length
    return read
  })
  return { messages, more: all.length - newest.length }
}

const beginning = (
  { text: whole, cut, recordedAt: at, sequenceNumber }: Message,
  most: number,
): PlacedPersonMessage => {
  const text = beginningOf(whole, most)
  const length = cut?.length ?? (text.length < whole.length ? [...whole].length : undefined)
  return defined({ text, sequenceNumber, at, cut: length === undefined ? undefined : { length } })
}
