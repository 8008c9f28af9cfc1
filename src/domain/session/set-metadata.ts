import { type Decided, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { AgentSessionId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import type { AgentSession } from './agent-session.ts'
import { SESSION } from './session-aggregate.ts'

/** Sets the note of a session, whatever its state. */
export const setSessionMetadata = (
  { working }: SessionFacts,
  { sessionId, metadata }: SetMetadata & { readonly sessionId: AgentSessionId },
  at: Instant,
): Decided<{ readonly session: AgentSession }> => {
  if (working === undefined) return err({ code: 'session.not_found', sessionId })
  const about = { version: 1, conversationId: working.session.conversationId, sessionId, at } as const
  const draft = newDraft()
  const { session } = draft.record(SESSION, working, { type: 'session.metadata_set', ...about, ...noteOf(metadata) })
  return draft.finish({ session })
}
