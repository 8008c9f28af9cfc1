import { type Decided, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import type { AgentSession } from './agent-session.ts'
import { type ChangeTarget, findChanged } from './change-session.ts'
import { SESSION } from './session-aggregate.ts'

/** Sets the note of a session, whatever its state. */
export const setSessionMetadata = (
  facts: SessionFacts,
  { metadata, ...target }: SetMetadata & ChangeTarget,
  at: Instant,
): Decided<{ readonly session: AgentSession }> => {
  const found = findChanged(facts, target)
  if (!found.ok) return found
  const { conversationId, id: sessionId } = found.value.session
  const about = { version: 1, conversationId, sessionId, at } as const
  const draft = newDraft()
  const { session } = draft.record(SESSION, found.value, {
    type: 'session.metadata_set',
    ...about,
    ...noteOf(metadata),
  })
  return draft.finish({ session })
}
