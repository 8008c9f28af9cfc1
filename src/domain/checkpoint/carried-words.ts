import type { SequenceNumber } from '../kernel/sequence.ts'
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
export const wordsToCarry = ({ messages, more }: PersonMessages, task: AskedTask, tokens: number): ChosenWords =>
  choosePersonWords(besideTask(messages, more, task), { tokens, more })

/** A message of a person, and where it stands in its conversation. */
interface Placed extends PersonMessage {
  readonly sequenceNumber: number
}

/** The task of a conversation, and where it was asked: it is said from there on. */
export interface AskedTask {
  readonly task: string
  readonly sequence: number
}

/**
 * The person's words beside the task. Only the one message that asked the task is left out: a person may say the same
 * again, or have said it before. When that message was not read, nothing is.
 *
 * @param messages newest first
 * @param more how many older messages there are that were not read
 */
export const besideTask = <Message extends Placed>(
  messages: readonly Message[],
  more: number,
  { task, sequence }: AskedTask,
): readonly Message[] => {
  const wanted = task.trim()
  const isRead = more === 0 || messages.some(({ sequenceNumber }) => sequenceNumber < sequence)
  const asking = isRead
    ? messages.findLast((message) => message.sequenceNumber >= sequence && isTask(message, wanted))
    : undefined
  return messages.filter((message) => message !== asking && message.text.trim() !== '')
}

/** Of a long message only the beginning is read. */
const isTask = ({ text, cut }: PersonMessage, task: string): boolean =>
  cut === undefined ? text.trim() === task : text !== '' && task.startsWith(text.trimStart())
