import type { Conversation } from '../conversation/conversation.ts'
import { type Decided, newDraft } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import { deliveriesOf, type HookDeliveries } from './hook-delivery.ts'

/** Logs that hooks were called, and how it went. It changes nothing else. */
export const recordHooks = (
  { conversation }: Pick<ConversationFacts, 'conversation'>,
  deliveries: HookDeliveries,
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined)
    return err({ code: 'conversation.not_found', conversationId: deliveries.conversationId })
  const draft = newDraft()
  draft.log(...deliveriesOf(deliveries, at))
  return draft.finish({ conversation })
}
