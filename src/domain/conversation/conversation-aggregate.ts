import type { Change, DecidedLifecycle } from '../decision.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Conversation } from './conversation.ts'
import {
  type ConversationMoved,
  type ConversationOpened,
  decideConversation,
  evolveConversation,
} from './conversation-lifecycle.ts'

/** A command on a conversation that a rule may refuse. */
interface ConversationCommand {
  readonly type: 'close' | 'reopen'
  readonly at: Instant
}

/** A conversation. It has no version: each of its events takes the place of one part, and says what that part must be. */
export const CONVERSATION: DecidedLifecycle<Conversation, ConversationOpened, ConversationMoved, ConversationCommand> =
  {
    keyOf: ({ id }) => id,
    begin: ({ conversation }) => conversation,
    decide: (conversation, { type, at }) => decideConversation(conversation, type, at),
    evolve: evolveConversation,
    changesOf: ({ first, now, events }) =>
      first === undefined ? [{ type: 'add_conversation', conversation: now }] : events.flatMap(changeOf),
  }

const changeOf = (event: ConversationOpened | ConversationMoved): readonly Change[] => {
  const { conversationId } = event
  switch (event.type) {
    case 'conversation.closed':
      return [{ type: 'set_closed', conversationId, closedAt: event.at }]
    case 'conversation.reopened':
      return [{ type: 'set_closed', conversationId }]
    case 'conversation.budget_set':
      return [{ type: 'set_budget', conversationId, restartBudget: event.restartBudget }]
    case 'conversation.asked':
      return [{ type: 'set_budget', conversationId, asked: event.asked }]
    case 'conversation.metadata_set': {
      const { metadata } = event
      const of = 'conversation'
      return [{ type: 'set_metadata', of, id: conversationId, conversationId, ...(metadata && { metadata }) }]
    }
    case 'conversation.opened':
      return []
    default:
      return event satisfies never
  }
}
