import { continuationFor } from '../checkpoint/continuation.ts'
import { type Conversation, taskOf } from '../conversation/conversation.ts'
import { type Change, type Decided, expecting, expectingHandoff } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { HandoffId, HolderToken } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import type { Refusal } from '../refusal.ts'
import type { AgentSession, SourceSession } from '../session/agent-session.ts'
import type { LeaseAsked } from '../session/process-identity.ts'
import { decideSession, evolveSession } from '../session/session-lifecycle.ts'
import { newSession, type SessionStartedAnswer } from '../session/start-session.ts'
import { type ContextMonitor, inheritMonitor } from '../window/context-monitor.ts'
import { DEFAULT_CLAIM_MS, type HandoffMetadata } from './handoff.ts'
import { decideHandoff, evolveHandoff, type HandoffCommand, type HandoffMoved } from './handoff-lifecycle.ts'
import { closeMonitor, NOTHING_ARMED, rearmRestart, type Succession, windowFor } from './succession.ts'

/** What it takes to claim a handoff. */
export interface AcceptHandoff {
  readonly handoffId: HandoffId
  /** Names the worker; give each process its own. */
  readonly claimant: string
  /** How long nobody else may claim it. */
  readonly claimMs?: number
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderToken
}

/** What it takes to complete a handoff. */
export interface CompleteHandoff extends LeaseAsked {
  readonly handoffId: HandoffId
  /** Whoever claimed it; a handoff nobody claimed is claimed and completed at once, by its target agent unless named. */
  readonly claimant?: string
  /** What runs the target agent; the source's unless named. */
  readonly backend?: string
  readonly model?: string
  readonly providerSessionId?: string
  /** What the new session opens with; the original task and the document unless given. */
  readonly continuation?: string
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderToken
}

/** What it takes to end a handoff without a successor. */
export interface EndHandoff {
  readonly handoffId: HandoffId
  readonly reason: string
  /** Who asks. Needed once somebody has claimed the handoff. */
  readonly by?: string
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderToken
}

/** What claiming a handoff answers with: the handoff, and what a successor begins from. Pass it on to complete. */
export interface HandoffAccepted {
  readonly handoff: HandoffMetadata
  /** The source, as the handoff holds it. */
  readonly session: AgentSession
  readonly conversation: Conversation
  /** What is watched of the source's window. */
  readonly monitor?: ContextMonitor
}

/** What completing a handoff answers with: the handoff, and the new session with its holder. */
export interface HandoffCompleted extends SessionStartedAnswer {
  readonly handoff: HandoffMetadata
}

/** A handoff, and what belongs to it. */
export interface LoadedHandoff {
  readonly handoff: HandoffMetadata
  readonly source: SourceSession
  readonly conversation: Conversation
}

/** The handoff a command is for, with its source and conversation. */
export const findHandoff = (
  { handoff, source, conversation }: HandoffFacts,
  handoffId: HandoffId,
  holder?: HolderToken,
): Result<LoadedHandoff, Refusal> => {
  if (handoff === undefined || source === undefined || conversation === undefined)
    return err({ code: 'handoff.not_found', handoffId })
  const isOvertaken = holder !== undefined && source.holder !== undefined && source.holder !== holder
  if (isOvertaken) return err({ code: 'session.superseded', sessionId: source.session.id })
  return ok({ handoff, source, conversation })
}

/** Keeps a step of a handoff only while its source is worked by whoever takes it. */
export const heldGuard = ({ session }: SourceSession, holder: HolderToken | undefined): readonly Change[] =>
  holder === undefined ? [] : [{ type: 'expect_session', session, expected: expecting({ session, holder }) }]

/** Claims a handoff for one claimant until a deadline. */
export const acceptHandoff = (facts: HandoffFacts, request: AcceptHandoff, at: Instant): Decided<HandoffAccepted> =>
  claim(facts, request, { type: 'accept', at })

const claim = (
  facts: HandoffFacts,
  { handoffId, claimant, claimMs = DEFAULT_CLAIM_MS, holder }: AcceptHandoff,
  { type, at }: { readonly type: 'accept' | 'renew'; readonly at: Instant },
): Decided<HandoffAccepted> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source, conversation } = found.value
  const decided = decideHandoff(handoff, { type, by: claimant, claimMs, at, now: facts.now })
  if (!decided.ok) return decided
  const accepted = evolveHandoff(handoff, decided.value)
  return ok({
    changes: [
      { type: 'move_handoff', handoff: accepted, expected: expectingHandoff(handoff) },
      ...heldGuard(source, holder),
    ],
    events: [decided.value],
    answer: defined({ handoff: accepted, session: source.session, conversation, monitor: facts.monitor }),
  })
}

/** Lets a claim last longer, from now on. Only its claimant may ask, and may ask until somebody else has claimed it. */
export const renewClaim = (facts: HandoffFacts, request: AcceptHandoff, at: Instant): Decided<HandoffAccepted> =>
  claim(facts, request, { type: 'renew', at })

/** Claims the oldest handoff that waits for an agent; none waiting is an answer too. */
export const claimNextHandoff = (
  facts: HandoffFacts,
  request: Omit<AcceptHandoff, 'handoffId'> & { readonly targetAgent: string },
  at: Instant,
): Decided<Partial<HandoffAccepted>> => {
  if (facts.handoff === undefined) return ok({ changes: [], events: [], answer: {} })
  return acceptHandoff(facts, { ...request, handoffId: facts.handoff.id }, at)
}

/** Completes a handoff: the source is handed off and the target starts, in one commit. */
export const completeHandoff = (
  facts: HandoffFacts,
  request: CompleteHandoff,
  { ids, at, believed }: Succession,
): Decided<HandoffCompleted> => {
  const { claimant, providerSessionId, leaseMs, runner } = request
  const found = findHandoff(facts, request.handoffId, request.holder)
  if (!found.ok) return found
  const { handoff, source, conversation } = found.value
  const by = claimant ?? handoff.targetAgent
  const prepared = handoff.status === 'accepted' ? handoff.prepared : undefined
  const targetSessionId = prepared?.sessionId ?? ids.sessionId
  const moved = acceptAndComplete(handoff, { type: 'complete', by, targetSessionId, at, now: facts.now })
  if (!moved.ok) return moved
  const left = decideSession(source.session, { type: 'hand_off', handoffId: handoff.id, at })
  if (!left.ok) return left
  const continuation =
    request.continuation ??
    prepared?.continuation ??
    continuationFor(taskOf(conversation), handoff.document, ids.openingId)
  const next = successor(facts, found.value, request, { id: targetSessionId, at })
  const watch = facts.monitor && inheritMonitor(facts.monitor, windowFor(source.session, next, believed))
  const opening = [{ id: ids.openingId, text: continuation, origin: 'batonpass' as const }]
  const target = newSession(next, ids, defined({ opening, watch, providerSessionId, leaseMs, runner }))
  const handedOff = { ...source, session: evolveSession(source.session, left.value) }
  return ok({
    changes: [
      { type: 'move_session', working: handedOff, expected: expecting(source) },
      { type: 'drop_lease', session: source.session },
      ...closeMonitor(facts.monitor, at),
      ...target.changes,
      { type: 'move_handoff', handoff: moved.value.handoff, expected: expectingHandoff(handoff) },
    ],
    events: [...moved.value.events.slice(0, -1), left.value, ...target.events, ...moved.value.events.slice(-1)],
    answer: { ...target.answer, handoff: moved.value.handoff },
  })
}

/** Completes a handoff; one that nobody has claimed yet is claimed first, and both are recorded. */
export const acceptAndComplete = (
  handoff: HandoffMetadata,
  command: Extract<HandoffCommand, { type: 'complete' }>,
): Result<{ readonly handoff: HandoffMetadata; readonly events: readonly HandoffMoved[] }, Refusal> => {
  const { at, now, by } = command
  const steps: readonly HandoffCommand[] =
    handoff.status === 'initiated' ? [{ type: 'accept', by, claimMs: DEFAULT_CLAIM_MS, at, now }, command] : [command]
  const events: HandoffMoved[] = []
  let reached = handoff
  for (const step of steps) {
    const decided = decideHandoff(reached, step)
    if (!decided.ok) return decided
    reached = evolveHandoff(reached, decided.value)
    events.push(decided.value)
  }
  return ok({ handoff: reached, events })
}

const successor = (
  { lastEpoch, nextSequence }: HandoffFacts,
  { handoff, source: { session: source } }: LoadedHandoff,
  { backend = source.backend, model }: CompleteHandoff,
  { id, at }: { readonly id: AgentSession['id']; readonly at: Instant },
) => {
  const sameAgent = handoff.targetAgent === source.agentName
  return defined({
    id,
    conversationId: handoff.conversationId,
    epoch: lastEpoch + 1,
    agentName: handoff.targetAgent,
    backend,
    model: model ?? (sameAgent ? source.model : undefined),
    parentSessionId: source.parentSessionId,
    initiatedByHandoff: handoff.id,
    startSequence: nextSequence,
    startedAt: at,
  })
}

/** Cancels or fails a handoff: the source is active again, in the same commit, with nothing left over. */
export const endHandoff = (
  facts: HandoffFacts,
  { handoffId, reason, by, holder }: EndHandoff,
  { type, at }: { readonly type: 'cancel' | 'fail'; readonly at: Instant },
): Decided<{ readonly handoff: HandoffMetadata; readonly session: AgentSession }> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source } = found.value
  const ended = decideHandoff(handoff, defined({ type, by, reason, at, now: facts.now }))
  if (!ended.ok) return ended
  const released = decideSession(source.session, { type: 'release', handoffId, at })
  if (!released.ok) return released
  const after = evolveHandoff(handoff, ended.value)
  const working = { ...source, session: evolveSession(source.session, released.value) }
  const armed = handoff.kind === 'context_restart' ? rearmRestart(facts.monitor, at) : NOTHING_ARMED
  return ok({
    changes: [
      ...armed.changes,
      { type: 'move_handoff', handoff: after, expected: expectingHandoff(handoff) },
      { type: 'move_session', working, expected: expecting(source) },
    ],
    events: [ended.value, released.value, ...armed.events],
    answer: { handoff: after, session: working.session },
  })
}
