import type { AgentSession, WorkingSession } from '../agent-session.ts'
import { type Decided, expecting } from '../decision.ts'
import type { ResumeFacts, SessionFacts } from '../facts.ts'
import type { AgentSessionId, HolderToken } from '../ids.ts'
import { fieldProblems } from '../input.ts'
import type { Instant } from '../instant.ts'
import { type Refusal, refuseForAll } from '../refusal.ts'
import { err, ok, type Result } from '../result.ts'
import { decideSession, evolveSession, type SessionCommand } from '../session-lifecycle.ts'
import { batonTaken } from './start-session.ts'

/** Which session a command is for, and who asks. */
export interface SessionTarget {
  readonly sessionId: AgentSessionId
  /** When given, the command is taken only from the session's current holder. */
  readonly holder?: HolderToken
}

/** The session a command is for, unless it is unknown or worked by somebody newer. */
export const findWorking = ({ working }: SessionFacts, target: SessionTarget): Result<WorkingSession, Refusal> => {
  const { sessionId, holder } = target
  if (working === undefined) return err({ code: 'session.not_found', sessionId })
  if (holder !== undefined && holder !== working.holder) return err({ code: 'session.superseded', sessionId })
  return ok(working)
}

/** Pauses, completes or fails a session by hand. */
export const changeSession = (
  facts: SessionFacts,
  target: SessionTarget,
  command: Extract<SessionCommand, { type: 'pause' | 'complete' | 'fail' | 'resume' }>,
): Decided<{ readonly session: AgentSession }> => {
  const blank = command.type === 'fail' ? refuseForAll(fieldProblems({ reason: command.reason })) : undefined
  if (blank !== undefined) return err(blank)
  const found = findWorking(facts, target)
  if (!found.ok) return found
  const moved = moveSession(found.value, command)
  // Whoever asks by hand gets the session, not its holder's token.
  return moved.ok ? ok({ ...moved.value, answer: { session: moved.value.answer.session } }) : moved
}

/** Resumes a session that was paused by hand, if nobody else has the baton; its messages go on after everyone's. */
export const resumeSession = (
  facts: ResumeFacts,
  target: SessionTarget,
  at: Instant,
): Decided<{ readonly session: AgentSession }> => {
  const { baton, nextSequence } = facts
  if (baton !== undefined && baton.id !== target.sessionId) return err(batonTaken(baton))
  const resumed = changeSession(facts, target, { type: 'resume', nextSequence, at })
  if (!resumed.ok) return resumed
  // Others may have come, spoken and gone since the facts were read, and left the baton free again.
  const { conversationId } = resumed.value.answer.session
  return ok({
    ...resumed.value,
    changes: [...resumed.value.changes, { type: 'expect_tail', conversationId, nextSequence }],
  })
}

/** Gives a session to a new holder. Whoever held it before is superseded. */
export const takeOverSession = (
  facts: SessionFacts,
  { sessionId }: SessionTarget,
  { holder, at }: { readonly holder: HolderToken; readonly at: Instant },
): Decided<WorkingSession> => {
  const found = findWorking(facts, { sessionId })
  return found.ok ? moveSession(found.value, { type: 'take_over', at }, holder) : found
}

const moveSession = (
  before: WorkingSession,
  command: SessionCommand,
  holder = before.holder,
): Decided<WorkingSession> => {
  const decided = decideSession(before.session, command)
  if (!decided.ok) return decided
  const moved = { session: evolveSession(before.session, decided.value), holder }
  return ok({
    changes: [{ type: 'move_session', working: moved, expected: expecting(before) }],
    events: [decided.value],
    answer: moved,
  })
}
