import type { AskedPrompt, RestartBudget } from '../budget/restart-budget.ts'
import { defined } from '../kernel/defined.ts'
import type { DomainEvent } from '../kernel/event.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { nextState } from '../kernel/state-machine.ts'
import type { Refusal } from '../refusal.ts'
import {
  CONVERSATION_TRANSITIONS,
  type Conversation,
  type ConversationState,
  conversationState,
} from './conversation.ts'

/** How a conversation begins. */
export type ConversationOpened = DomainEvent<'conversation.opened', { conversation: Conversation }>

/** The events of a conversation after it was opened. */
export type ConversationMoved =
  | DomainEvent<'conversation.closed' | 'conversation.reopened', unknown>
  | DomainEvent<'conversation.metadata_set', { metadata?: Metadata }>
  /** Its budget is another one from now on. */
  | DomainEvent<'conversation.budget_set', { restartBudget: RestartBudget }>
  /** A person asked for something new: its restarts count from here. */
  | DomainEvent<'conversation.asked', { asked: AskedPrompt }>

/** Everything that happens to a conversation. */
export type ConversationEvent = ConversationOpened | ConversationMoved

/** Whether an event is about a conversation as a whole, after its beginning. */
export const isConversationMoved = <E extends { readonly type: string }>(event: E): event is E & ConversationMoved =>
  event.type.startsWith('conversation.') && event.type !== 'conversation.opened'

/** May this happen now? Answers with the fact to record, or the reason it may not. */
export const decideConversation = (
  conversation: Conversation,
  command: 'close' | 'reopen',
  at: Instant,
): Result<ConversationMoved, Refusal> => {
  const { id: conversationId } = conversation
  const from = conversationState(conversation)
  const to = nextState<ConversationState, 'close' | 'reopen'>(CONVERSATION_TRANSITIONS, from, command)
  if (to === undefined) {
    return err(
      from === 'closed'
        ? { code: 'conversation.closed', conversationId, since: conversation.closedAt as Instant }
        : { code: 'conversation.open', conversationId },
    )
  }
  const type = to === 'closed' ? 'conversation.closed' : 'conversation.reopened'
  return ok({ type, version: 1, conversationId, at })
}

/** The conversation once the event has happened. Never refuses. */
export const evolveConversation = (conversation: Conversation, event: ConversationMoved): Conversation => {
  const { closedAt, metadata, ...rest } = conversation
  switch (event.type) {
    case 'conversation.closed':
      return defined({ ...rest, closedAt: event.at, metadata })
    case 'conversation.reopened':
      return defined({ ...rest, metadata })
    case 'conversation.budget_set':
      return { ...conversation, restartBudget: event.restartBudget }
    case 'conversation.asked':
      return { ...conversation, asked: event.asked }
    case 'conversation.metadata_set':
      return defined({ ...rest, closedAt, metadata: event.metadata })
    default:
      return event satisfies never
  }
}
