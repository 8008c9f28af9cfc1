import type { Instant } from '../kernel/instant.ts'
import type { TransitionTable } from '../kernel/state-machine.ts'

/** The commands of a document that a session left for the next one of its workspace. */
export type DocumentCommandType = 'refresh' | 'take' | 'close' | 'forget'

/**
 * The life of a document that a session left for the next one of its workspace. It waits, its text is made anew as long as
 * it does, and it is never given back: the first candidate that takes its first turn has it, and forgets it once the
 * handoff is over. One that nobody takes is closed, and forgotten once its own session waits for it no longer.
 */
export const DOCUMENT_TRANSITIONS = {
  pending: { refresh: 'pending', take: 'taken', close: 'closed' },
  taken: { take: 'taken', forget: 'forgotten' },
  closed: { forget: 'forgotten' },
  forgotten: {},
} as const satisfies TransitionTable<string, DocumentCommandType>

/** Where a document is in its life. */
export type DocumentStatus = keyof typeof DOCUMENT_TRANSITIONS

/** The facts about a document that its rules are about. */
export interface DocumentFacts {
  readonly id: string
  /** The session that wrote it, by the name that its runtime has for it. */
  readonly providerSessionId: string
  /** Everything that the next session begins with. */
  readonly text: string
  readonly expiresAt: Instant
}

/** A document, and where it is in its life. A taken one has the candidate that it belongs to. */
export type LeftDocument<Document extends DocumentFacts = DocumentFacts> = { readonly document: Document } & (
  | { readonly status: 'pending' | 'closed' | 'forgotten' }
  | { readonly status: 'taken'; readonly by: string }
)

/** Whether the time of a document is over. Nobody is given it any more; a candidate that has begun with it may take it. */
export const isExpired = ({ expiresAt }: Pick<DocumentFacts, 'expiresAt'>, now: Instant): boolean =>
  Date.parse(now) >= Date.parse(expiresAt)
