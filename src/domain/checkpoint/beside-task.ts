import type { PersonMessage } from './person-words.ts'

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
