import type { RestartBudget } from '../budget/restart-budget.ts'
import type { Decided } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok } from '../kernel/result.ts'
import type { Conversation } from './conversation.ts'
import { type ConversationMoved, evolveConversation } from './conversation-lifecycle.ts'
import { isNewPrompt, promptMark } from './prompt-mark.ts'

/** The parts of a budget that are to be others from now on. Numbers are new totals, not additions. */
export interface SetBudget {
  readonly budget: Partial<RestartBudget>
}

/** A prompt that a person gives a conversation. */
export interface AskConversation {
  readonly prompt: string
}

type Of = { readonly conversationId: ConversationId }

/** Changes the budget of a conversation, open or closed. A budget that it has already changes nothing. */
export const setBudget = (
  { conversation }: ConversationFacts,
  { conversationId, budget }: SetBudget & Of,
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId })
  const restartBudget = { ...conversation.restartBudget, ...budget }
  if (canonicalJson(restartBudget) === canonicalJson(conversation.restartBudget))
    return ok({ changes: [], events: [], answer: { conversation } })
  return moved(conversation, { type: 'conversation.budget_set', version: 1, conversationId, at, restartBudget })
}

/**
 * Notes what a person asks. Only a prompt that is not the one before it is new: restarts and takeovers count from there.
 * The same words again, after whatever end, change nothing.
 */
export const askConversation = (
  { conversation, use, nextSequence: sequence }: ConversationFacts,
  { conversationId, prompt }: AskConversation & Of,
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined || use === undefined) return err({ code: 'conversation.not_found', conversationId })
  if (!isNewPrompt(conversation, prompt)) return ok({ changes: [], events: [], answer: { conversation } })
  const { restarts, takeovers } = use
  const asked = { mark: promptMark(prompt), prompt, sequence, restarts, takeovers }
  return moved(conversation, { type: 'conversation.asked', version: 1, conversationId, at, asked })
}

const moved = (
  conversation: Conversation,
  event: Extract<ConversationMoved, { type: 'conversation.budget_set' | 'conversation.asked' }>,
): Decided<{ readonly conversation: Conversation }> => {
  const after = evolveConversation(conversation, event)
  const { id: conversationId, restartBudget, asked } = after
  const change = event.type === 'conversation.asked' && asked !== undefined ? { asked } : { restartBudget }
  return ok({
    changes: [{ type: 'set_budget', conversationId, ...change }],
    events: [event],
    answer: { conversation: after },
  })
}
