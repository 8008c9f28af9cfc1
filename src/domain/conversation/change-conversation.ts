import type { RestartBudget } from '../budget/restart-budget.ts'
import { type Decided, newDraft } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import { batonTaken } from '../session/start-session.ts'
import type { Conversation } from './conversation.ts'
import { CONVERSATION } from './conversation-aggregate.ts'
import type { ConversationMoved } from './conversation-lifecycle.ts'
import { isNewPrompt, promptMark } from './prompt-mark.ts'
import { firstLine, isTerminalTask } from './title.ts'

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
    return newDraft().finish({ conversation })
  return recorded(conversation, { type: 'conversation.budget_set', version: 1, conversationId, at, restartBudget })
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
  if (!isNewPrompt(conversation, prompt)) return newDraft().finish({ conversation })
  const { restarts, takeovers } = use
  const first = conversation.asked?.first ?? { prompt: firstLine(prompt) }
  const latest = { mark: promptMark(prompt), prompt, sequence, restarts, takeovers }
  const named = isTerminalTask(conversation.originalTask) ? { ...latest, first } : latest
  return recorded(conversation, { type: 'conversation.asked', version: 1, conversationId, at, asked: named })
}

/** No rule speaks against it, in whatever state the conversation is. */
const recorded = (
  conversation: Conversation,
  event: Extract<ConversationMoved, { type: 'conversation.budget_set' | 'conversation.asked' }>,
): Decided<{ readonly conversation: Conversation }> => {
  const draft = newDraft()
  return draft.finish({ conversation: draft.record(CONVERSATION, conversation, event) })
}

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
