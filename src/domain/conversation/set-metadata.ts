import { type Decided, newDraft } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import type { Conversation } from './conversation.ts'
import { CONVERSATION } from './conversation-aggregate.ts'

/** Sets the note of a conversation, open or closed. */
export const setConversationMetadata = (
  { conversation }: ConversationFacts,
  { conversationId, metadata }: SetMetadata & { readonly conversationId: ConversationId },
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId })
  const about = { version: 1, conversationId, at } as const
  const draft = newDraft()
  const noted = draft.record(CONVERSATION, conversation, {
    type: 'conversation.metadata_set',
    ...about,
    ...noteOf(metadata),
  })
  return draft.finish({ conversation: noted })
}
