import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { MetadataTypes } from '../../domain/kernel/metadata.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'

/** A conversation with the notes of the caller. */
export type ConversationWith<Notes extends MetadataTypes> = Conversation<Notes['conversation']>
/** A session with the notes of the caller. */
export type SessionWith<Notes extends MetadataTypes> = AgentSession<Notes['session']>
/** A handoff with the notes of the caller. */
export type HandoffWith<Notes extends MetadataTypes> = HandoffMetadata<Notes['handoff']>

/** Something that may not be there. */
export type Found<Item> = Promise<Item | undefined>
