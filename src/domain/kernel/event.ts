import type { ConversationId } from './ids.ts'
import type { Instant } from './instant.ts'

/** Something that happened in a conversation. `version` lets the shape of an event change without rewriting history. */
export type DomainEvent<Type extends string, Body> = {
  readonly type: Type
  readonly version: 1
  readonly conversationId: ConversationId
  readonly at: Instant
  /** Done without the token of the session's holder: by a person, or a program from outside, that said so. */
  readonly byHand?: true
} & Readonly<Body>
