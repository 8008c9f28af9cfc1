import { type Decided, newDraft } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import { batonTaken } from '../session/start-session.ts'
import type { Conversation } from './conversation.ts'
import { CONVERSATION } from './conversation-aggregate.ts'

/** Closes a conversation, if nobody has its baton; or opens it again. */
export const closeConversation = (
  { conversation, baton }: ConversationFacts,
  { conversationId, type }: { readonly conversationId: ConversationId; readonly type: 'close' | 'reopen' },
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId })
  const draft = newDraft()
  const settled = draft.apply(CONVERSATION, conversation, { type, at })
  if (!settled.ok) return settled
  if (type === 'close' && baton !== undefined) return err(batonTaken(baton))
  return draft.finish({ conversation: settled.value })
}
