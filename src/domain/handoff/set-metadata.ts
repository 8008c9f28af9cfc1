import type { Conversation } from '../conversation/conversation.ts'
import { type ConversationMoved, evolveConversation } from '../conversation/conversation-lifecycle.ts'
import type { Decided } from '../decision.ts'
import type { ConversationFacts, HandoffFacts, SessionFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { type Metadata, noteOf } from '../kernel/metadata.ts'
import { err, ok } from '../kernel/result.ts'
import type { AgentSession } from '../session/agent-session.ts'
import type { SessionMoved } from '../session/session-event.ts'
import { evolveSession } from '../session/session-lifecycle.ts'
import type { HandoffMetadata } from './handoff.ts'
import { evolveHandoff, type HandoffMoved } from './handoff-lifecycle.ts'

/** A note that takes the place of the one before; an empty one takes it away. */
export interface SetMetadata {
  readonly metadata: Metadata
}

/** Sets the note of a conversation, open or closed. */
export const setConversationMetadata = (
  { conversation }: ConversationFacts,
  { conversationId, metadata }: SetMetadata & { readonly conversationId: ConversationId },
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId })
  const event: ConversationMoved = {
    type: 'conversation.metadata_set',
    version: 1,
    conversationId,
    at,
    ...noteOf(metadata),
  }
  return ok({
    changes: [{ type: 'set_metadata', of: 'conversation', id: conversationId, conversationId, ...noteOf(metadata) }],
    events: [event],
    answer: { conversation: evolveConversation(conversation, event) },
  })
}

/** Sets the note of a session, whatever its state. */
export const setSessionMetadata = (
  { working }: SessionFacts,
  { sessionId, metadata }: SetMetadata & { readonly sessionId: AgentSessionId },
  at: Instant,
): Decided<{ readonly session: AgentSession }> => {
  if (working === undefined) return err({ code: 'session.not_found', sessionId })
  const { conversationId } = working.session
  const event: SessionMoved = {
    type: 'session.metadata_set',
    version: 1,
    conversationId,
    sessionId,
    at,
    ...noteOf(metadata),
  }
  return ok({
    changes: [{ type: 'set_metadata', of: 'session', id: sessionId, conversationId, ...noteOf(metadata) }],
    events: [event],
    answer: { session: evolveSession(working.session, event) },
  })
}

/** Sets the note of a handoff, whatever its status. */
export const setHandoffMetadata = (
  { handoff }: HandoffFacts,
  { handoffId, metadata }: SetMetadata & { readonly handoffId: HandoffId },
  at: Instant,
): Decided<{ readonly handoff: HandoffMetadata }> => {
  if (handoff === undefined) return err({ code: 'handoff.not_found', handoffId })
  const { conversationId } = handoff
  const event: HandoffMoved = defined({
    type: 'handoff.metadata_set' as const,
    version: 1 as const,
    conversationId,
    handoffId,
    at,
    ...noteOf(metadata),
  })
  return ok({
    changes: [{ type: 'set_metadata', of: 'handoff', id: handoffId, conversationId, ...noteOf(metadata) }],
    events: [event],
    answer: { handoff: evolveHandoff(handoff, event) },
  })
}
