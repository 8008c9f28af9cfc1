import type { HandoffFacts, SourceFacts } from '../../domain/facts.ts'
import { callsAfter } from '../../domain/handoff/leading-calls.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { shownBy } from '../../domain/session/stored-session.ts'
import { proofOf } from './references.ts'
import type { HeldAtHandoff, InitiateDetails, OnHandoff } from './requests.ts'

/**
 * The facts of a caller that has just recorded the turns of the current exchange.
 *
 * Nothing is taken on trust: only objects that we answered with are looked at, the guard compares what was decided on,
 * and foreign keys guard the turn and the tool calls.
 */
export const heldSource = (request: InitiateDetails, now: Instant): { readonly held?: SourceFacts } => {
  const { session, holder, monitor, turns = [], priorTurn, toolCalls } = request
  if (typeof session === 'string' || holder === undefined || priorTurn !== undefined || toolCalls !== undefined)
    return {}
  const { lastSequence, lastTurnId } = session.progress
  const last = turns.at(-1)
  const calls = callsAfter(session, turns)
  if (last === undefined || last.id !== lastTurnId || last.range.end !== lastSequence || calls === undefined) return {}
  const source = { priorTurnId: last.id, namedToolCalls: [], ...calls, now }
  return { held: defined({ working: shownBy(session, proofOf(holder)), monitor, ...source }) }
}

/**
 * The facts of a caller from an earlier step of a handoff. While the handoff is open nobody else can speak or start, so
 * the source says where the successor begins; only its epoch is a guess, and the store says so if it is taken.
 */
export const heldHandoff = (
  { handoff, session, conversation, monitor }: OnHandoff & HeldAtHandoff,
  now: Instant | undefined,
): { readonly held?: HandoffFacts } => {
  const isHeld = typeof handoff !== 'string' && session !== undefined && conversation !== undefined && now !== undefined
  // A successor's window is watched as its source's was.
  if (!isHeld || monitor === undefined || handoff.status === 'completed') return {}
  const { epoch: lastEpoch, progress } = session
  const tail = { lastEpoch, nextSequence: progress.nextSequence }
  return { held: { handoff, conversation, source: { session }, monitor, ...tail, now } }
}
