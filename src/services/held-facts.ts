import { defined } from '../domain/defined.ts'
import type { HandoffFacts, SourceFacts } from '../domain/facts.ts'
import type { Instant } from '../domain/instant.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../domain/tool-call.ts'
import type { CompleteRequest, InitiateRequest } from './requests.ts'

/**
 * What a caller holds who has just recorded the turns of the current exchange.
 *
 * Nothing is taken on trust: the version guards the session, and foreign keys guard the turn and the tool calls.
 */
export const heldSource = (request: InitiateRequest, now: Instant): { readonly held?: SourceFacts } => {
  const { session, holder, turns = [], priorTurn, toolCalls } = request
  if (typeof session === 'string' || holder === undefined || priorTurn !== undefined || toolCalls !== undefined)
    return {}
  const { exchangeStart = session.startSequence, lastSequence, lastTurnId } = session.progress
  const [first, last] = [turns[0], turns.at(-1)]
  const isWhole =
    last?.id === lastTurnId && last?.range.end === lastSequence && Number(first?.range.start) <= exchangeStart
  const calls = turns.flatMap((turn) => turn.toolCalls).filter(({ sequenceNumber }) => sequenceNumber >= exchangeStart)
  if (!isWhole || last === undefined || calls.length === 0 || calls.length > MAX_REFERENCED_TOOL_CALLS) return {}
  const lists = { namedToolCalls: [], exchangeToolCalls: calls, lastToolCalls: [] }
  return { held: { working: { session, holder }, priorTurnId: last.id, ...lists, now } }
}

/**
 * What a caller holds who has just claimed a handoff. While the handoff is open nobody else can speak or start, so the
 * source says where the successor begins; only its epoch is a guess, and the store says so if it is taken.
 */
export const heldHandoff = (request: CompleteRequest, now: Instant): { readonly held?: HandoffFacts } => {
  const { handoff, session, conversation } = request
  if (
    typeof handoff === 'string' ||
    handoff.status !== 'accepted' ||
    session === undefined ||
    conversation === undefined
  )
    return {}
  const { epoch: lastEpoch, progress } = session
  const source = { session }
  return { held: defined({ handoff, conversation, source, lastEpoch, nextSequence: progress.nextSequence, now }) }
}
