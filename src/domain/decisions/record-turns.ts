import type { AgentSession, WorkingSession } from '../agent-session.ts'
import type { AuditEvent } from '../audit-event.ts'
import { type Change, type Decided, expecting } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { AgentSessionId, HolderToken } from '../ids.ts'
import { turnProblem } from '../input.ts'
import type { Instant } from '../instant.ts'
import { err, ok } from '../result.ts'
import { decideSession, evolveSession } from '../session-lifecycle.ts'
import type { Turn, TurnDraft, TurnInput } from '../turn.ts'
import { findWorking } from './change-session.ts'

/** What it takes to record turns. A turn is taken only from the session's current holder. */
export interface RecordTurns {
  readonly sessionId: AgentSessionId
  readonly holder: HolderToken
  readonly turns: readonly TurnInput[]
}

/** What recording turns answers with: the session, ready for the next turn, and the turns with their places. */
export interface TurnsRecorded extends WorkingSession {
  readonly turns: readonly Turn[]
}

/** Records turns, all of them or none. */
export const recordTurns = (
  facts: SessionFacts,
  request: RecordTurns,
  { drafts, at }: { readonly drafts: readonly TurnDraft[]; readonly at: Instant },
): Decided<TurnsRecorded> => {
  if (request.turns.length === 0) return err({ code: 'input.invalid', field: 'batch', problem: 'it has no turns' })
  const problem = request.turns.map(turnProblem).find((found) => found !== undefined)
  if (problem !== undefined) return err(problem)
  const found = findWorking(facts, request)
  if (!found.ok) return found
  const { session: before, holder } = found.value
  let session: AgentSession = before
  const events: AuditEvent[] = []
  const changes: Change[] = []
  const turns: Turn[] = []
  for (const turn of drafts) {
    const decided = decideSession(session, { type: 'record_turn', turn, at })
    if (!decided.ok) return decided
    const event = decided.value
    if (event.type !== 'turn.recorded') continue
    session = evolveSession(session, event)
    events.push(event)
    changes.push({ type: 'add_turn', turn: event.turn, messages: event.messages })
    turns.push(event.turn)
  }
  const moved: Change = { type: 'move_session', working: { session, holder }, expected: expecting(found.value) }
  return ok({ changes: [moved, ...changes], events, answer: { session, holder, turns } })
}
