import type { PersonMessage } from '../domain/checkpoint/person-words.ts'
import type { SequenceNumber } from '../domain/kernel/sequence.ts'

/** How much is read of what people said, so that it costs no more as a conversation grows. */
export interface PersonMessagesWanted {
  /** At most so many messages, the newest. */
  readonly most: number
  /** At most so many characters of each. */
  readonly characters: number
  /** Once messages newer than it have more bytes than `characters`, at most so many characters of each. */
  readonly olderCharacters: number
}

/** A message of a person, and where it stands in its conversation. */
export interface PlacedPersonMessage extends PersonMessage {
  readonly sequenceNumber: SequenceNumber
}

/** The newest messages of people in a conversation. */
export interface PersonMessages {
  /** Newest first. */
  readonly messages: readonly PlacedPersonMessage[]
  /** How many older ones there are; counted up to {@link COUNTED_PERSON_MESSAGES} of all. */
  readonly more: number
}

/** Counting has a bound too: beyond it, what is said is "at least so many". */
export const COUNTED_PERSON_MESSAGES = 10_000
