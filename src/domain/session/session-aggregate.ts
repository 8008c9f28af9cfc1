import { type Change, type DecidedLifecycle, expecting } from '../decision.ts'
import { defined } from '../kernel/defined.ts'
import type { Drafted } from '../kernel/draft.ts'
import type { AgentSession } from './agent-session.ts'
import type { SessionEvent, SessionMoved, SessionStarted } from './session-event.ts'
import { beginSession, decideSession, evolveSession, type SessionCommand } from './session-lifecycle.ts'
import type { SourceSession } from './stored-session.ts'

/** A session, with the digest of its holder's token beside it: neither is ever logged. */
export const SESSION: DecidedLifecycle<SourceSession, SessionStarted, SessionMoved, SessionCommand> = {
  keyOf: ({ session }) => session.id,
  begin: (event) => ({ session: beginSession(event) }),
  decide: ({ session }, command) => decideSession(session, command),
  evolve: (source, event) => ({ ...source, session: evolveSession(source.session, event) }),
  changesOf: (drafted) => [...standingOf(drafted), ...drafted.events.flatMap(rowsOf)],
}

/** A note alone moves nothing, so it is compared with nothing. */
const standingOf = ({ first, now, isGuarded }: Drafted<SourceSession, SessionEvent>): readonly Change[] => {
  const { session, holder } = now
  if (first === undefined) {
    if (holder === undefined) throw new TypeError(`Session ${session.id} begins without a holder`)
    return [{ type: 'add_session', working: { session, holder } }]
  }
  if (session.version !== first.session.version)
    // The token was shown to be compared, not to be kept.
    return [{ type: 'move_session', working: defined({ session, holder }), expected: expecting(first) }]
  return isGuarded ? [{ type: 'expect_session', session: keyOf(session), expected: expecting(first) }] : []
}

const rowsOf = (event: SessionEvent): readonly Change[] => {
  switch (event.type) {
    case 'session.started':
      return (event.opening ?? []).map((message) => ({ type: 'add_message', message }))
    case 'turn.recorded':
      return [{ type: 'add_turn', turn: event.turn, messages: event.messages }]
    case 'turn.extended': {
      const { sessionId: id, conversationId, turnId, messages, toolCalls } = event
      return [{ type: 'extend_turn', session: { id, conversationId }, turnId, messages, toolCalls }]
    }
    case 'session.metadata_set': {
      const { sessionId: id, conversationId, metadata } = event
      return [{ type: 'set_metadata', of: 'session', id, conversationId, ...(metadata && { metadata }) }]
    }
    default:
      return []
  }
}

/** Where a session is found. */
export const keyOf = ({ id, conversationId }: AgentSession) => ({ id, conversationId })
