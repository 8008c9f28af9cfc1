import type { Instant } from '../kernel/instant.ts'
import { inQuotes } from '../kernel/safe-text.ts'

/** A document that waits, as far as a person is told of it. */
interface Left {
  readonly agentName: string
  readonly writtenAt: Instant | string
}

/** The sentence for the person whose session begins with a document. */
export const begunWithDocument = ({ agentName, writtenAt }: Left): string =>
  `Batonpass: this session begins with the document that ${inQuotes(agentName)} left here at ${atMinute(writtenAt)}. Its first answer takes the work over; the document waits until then.`

/** The sentence for the person whose session left a document, once another session has taken it. */
export const takenDocument = (takenBy: string): string =>
  `Batonpass: the document that this session left was taken over by session ${takenBy}. What you say here is in a branch of the conversation from now on.`

/** The mark in a status line while a document waits. */
export const DOCUMENT_WAITS = 'a document waits here'

/** The note on a handoff whose document was left for the next session of a workspace. */
export const LEFT_FOR_NEXT = { left_for: 'next_session' } as const

const atMinute = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
