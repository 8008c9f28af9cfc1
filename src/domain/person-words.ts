import type { Instant } from './instant.ts'

/** One message of a person. */
export interface PersonMessage {
  readonly text: string
  readonly at: Instant
  /** How many characters the whole had, when the text is only its beginning. */
  readonly cut?: { readonly length: number }
}
