import type { SequenceNumber } from '../kernel/sequence.ts'
import { type AskedTask, besideTask } from './beside-task.ts'
import {
  bytesOfTokens,
  type ChosenWords,
  choosePersonWords,
  MOST_TOKENS,
  mostPersonMessages,
  type PersonMessage,
} from './person-words.ts'

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

/** Once newer messages have used the budget up, so much of each is read. */
const CHARACTERS_OF_OLDER = 2_000

/** So much is to be read for a continuation that carries so many tokens of a person's words; unless said, the most. */
export const wordsWanted = (tokens: number = MOST_TOKENS): PersonMessagesWanted => ({
  most: Math.min(COUNTED_PERSON_MESSAGES, mostPersonMessages(tokens)),
  characters: bytesOfTokens(tokens),
  olderCharacters: CHARACTERS_OF_OLDER,
})

/** The person's words beside the task, as far as a continuation with room for so many tokens of them carries them. */
export const wordsToCarry = ({ messages, more }: PersonMessages, asked: AskedTask, tokens: number): ChosenWords =>
  choosePersonWords(besideTask(messages, more, asked), { tokens, more })
