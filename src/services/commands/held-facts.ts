import type { HandoffFacts, SourceFacts } from '../../domain/facts.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../../domain/turn/tool-call.ts'
import type { HeldAtHandoff, InitiateRequest, OnHandoff } from '../requests.ts'

/**
 * What a caller holds who has just recorded the turns of the current exchange.
 *
 * Nothing is taken on trust: only objects that we answered with are looked at, the guard compares what was decided on,
 * and foreign keys guard the turn and the tool calls.
 */
export const heldSource = (request: InitiateRequest, now: Instant): { readonly held?: SourceFacts } => {
  const { session, holder, monitor, turns = [], priorTurn, toolCalls } = request
  if (typeof session === 'string' || holder === undefined || priorTurn !== undefined || toolCalls !== undefined)
    return {}
  const { exchangeStart = session.startSequence, lastSequence, lastTurnId } = session.progress
  const [first, last] = [turns[0], turns.at(-1)]
  const isWhole =
    last?.id === lastTurnId && last?.range.end === lastSequence && Number(first?.range.start) <= exchangeStart
  const calls = turns.flatMap((turn) => turn.toolCalls).filter(({ sequenceNumber }) => sequenceNumber >= exchangeStart)
  if (!isWhole || last === undefined || calls.length === 0 || calls.length > MAX_REFERENCED_TOOL_CALLS) return {}
  const lists = { namedToolCalls: [], exchangeToolCalls: calls, lastToolCalls: [] }
  return { held: defined({ working: { session, holder }, monitor, priorTurnId: last.id, ...lists, now }) }
}

/**
 * What a caller holds from an earlier step of a handoff. While the handoff is open nobody else can speak or start, so
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
