import type { Decided } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok } from '../kernel/result.ts'
import { batonTaken } from '../session/start-session.ts'
import type { Conversation } from './conversation.ts'
import { decideConversation, evolveConversation } from './conversation-lifecycle.ts'

/** Closes a conversation, if nobody has its baton; or opens it again. */
export const closeConversation = (
  { conversation, baton }: ConversationFacts,
  { conversationId, type }: { readonly conversationId: ConversationId; readonly type: 'close' | 'reopen' },
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId })
  const decided = decideConversation(conversation, type, at)
  if (!decided.ok) return decided
  if (type === 'close' && baton !== undefined) return err(batonTaken(baton))
  const after = evolveConversation(conversation, decided.value)
  return ok({
    changes: [{ type: 'set_closed', conversationId, ...(type === 'close' && { closedAt: at }) }],
    events: [decided.value],
    answer: { conversation: after },
  })
}
