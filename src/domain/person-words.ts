import type { Instant } from './instant.ts'
import type { SequenceNumber } from './sequence.ts'

/** One message of a person. */
export interface PersonMessage {
  readonly text: string
  readonly sequenceNumber: SequenceNumber
  readonly at: Instant
  /** How many characters the whole had, when the text is only its beginning. */
  readonly cut?: { readonly length: number }
}
