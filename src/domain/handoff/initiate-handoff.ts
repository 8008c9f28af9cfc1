import { type Decided, expecting } from '../decision.ts'
import type { SourceFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { HandoffId, SnapshotId, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { noteOf } from '../kernel/metadata.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { type Refusal, refuseForAll } from '../refusal.ts'
import { type AgentSession, heldBy, type WorkingSession } from '../session/agent-session.ts'
import { findWorking, type SessionTarget } from '../session/change-session.ts'
import { captureWindow } from '../session/context-snapshot.ts'
import { decideSession, evolveSession } from '../session/session-lifecycle.ts'
import { referenceTo, type ToolCallReference } from '../turn/tool-call.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import type { HandoffFlag, HandoffKind, HandoffMetadata, TraceContext } from './handoff.ts'
import { beginHandoff, type HandoffInitiated } from './handoff-lifecycle.ts'

/** What every handoff says about itself. */
export interface HandoffRequest extends SessionTarget {
  readonly targetAgent: string
  /** Why; its kind says it unless it is given. */
  readonly reason?: string
  /** The checkpoint, or any text meant for the successor. */
  readonly document?: string
  /** The turn that led to the handoff; the source's latest unless named. */
  readonly priorTurn?: TurnId
  /** Call ids of the tool calls that led to it; those of the current exchange unless named. */
  readonly toolCalls?: readonly string[]
  readonly flags?: readonly HandoffFlag[]
  readonly traceContext?: TraceContext
  /** The caller's own note. */
  readonly metadata?: Metadata
}

/** What it takes to initiate a handoff. */
export interface InitiateHandoff extends HandoffRequest {
  /** `agent_transfer` unless said otherwise. Threads have a command of their own. */
  readonly kind?: Exclude<HandoffKind, 'thread'>
}

/** The ids a new handoff needs. */
export interface NewHandoffIds {
  readonly handoffId: HandoffId
  readonly snapshotId: SnapshotId
}

/** What initiating a handoff answers with. */
export interface HandoffBegun {
  readonly handoff: HandoffMetadata
  readonly session: AgentSession
  readonly monitor?: ContextMonitor
}

/** Initiates a handoff: the source is paused and held by it until it is completed, cancelled or failed. */
export const initiateHandoff = (
  facts: SourceFacts,
  request: InitiateHandoff,
  { ids, at }: { readonly ids: NewHandoffIds; readonly at: Instant },
): Decided<HandoffBegun> => {
  const { kind = 'agent_transfer' } = request
  const found = findWorking(facts, request)
  if (!found.ok) return found
  const { session, holder } = found.value
  const held = decideSession(session, { type: 'hold', handoffId: ids.handoffId, at })
  const described = describeHandoff(facts, found.value, { ...request, kind }, { id: ids.handoffId, at })
  const obstacles = [...(held.ok ? [] : [notNow(session, held.error)]), ...(described.ok ? [] : described.error)]
  if (!held.ok || !described.ok) return err(refuseForAll(obstacles) as Refusal)
  const handoff = beginHandoff(described.value)
  const source = evolveSession(session, held.value)
  const snapshot = captureWindow(session, { id: ids.snapshotId, type: 'handoff_initiated', at })
  return ok({
    changes: [
      { type: 'add_handoff', handoff },
      { type: 'move_session', working: { session: source, holder }, expected: expecting(found.value) },
      { type: 'add_snapshot', snapshot },
    ],
    events: [
      described.value,
      held.value,
      { type: 'snapshot.captured', version: 1, conversationId: session.conversationId, at, snapshot },
    ],
    answer: defined({ handoff, session: source, monitor: facts.monitor }),
  })
}

/** Why a session cannot be held: a handoff that is already open says more than the state. */
export const notNow = (session: AgentSession, refusal: Refusal): Refusal => {
  const handoffId = heldBy(session)
  return handoffId === undefined ? refusal : { code: 'handoff.already_open', sessionId: session.id, handoffId }
}

/** Why a handoff is initiated, when nobody says. */
const REASONS: Readonly<Record<HandoffKind, string>> = {
  agent_transfer: 'Another agent takes over.',
  context_restart: 'The work continues in a fresh context window.',
  thread: 'The work continues in a thread of its own.',
}

/** The fact that a handoff was initiated, or everything that speaks against it. */
export const describeHandoff = (
  facts: SourceFacts,
  { session }: WorkingSession,
  request: HandoffRequest & { readonly kind: HandoffKind },
  { id, at }: { readonly id: HandoffId; readonly at: Instant },
): Result<HandoffInitiated, readonly Refusal[]> => {
  const { kind, reason = REASONS[kind], document, flags = [], traceContext } = request
  const { conversationId, id: sourceSessionId, agentName: sourceAgent } = session
  const { targetAgent } = request
  const { priorTurnId } = facts
  const obstacles = obstaclesTo(facts, session, request)
  if (obstacles.length > 0 || priorTurnId === undefined) return err(obstacles)
  const origin = { id, kind, conversationId, sourceSessionId, sourceAgent, targetAgent, reason, document, priorTurnId }
  const handoff = defined({
    ...origin,
    triggeringToolCalls: leadingTo(facts, request),
    flags,
    traceContext,
    initiatedAt: at,
    ...noteOf(request.metadata),
  })
  return ok({ type: 'handoff.initiated', version: 1, conversationId, at, handoff })
}

const obstaclesTo = (
  facts: SourceFacts,
  { id: sessionId, conversationId, agentName, progress }: AgentSession,
  { kind, targetAgent, priorTurn, toolCalls }: HandoffRequest & { readonly kind: HandoffKind },
): readonly Refusal[] => {
  const known = new Set(facts.namedToolCalls.map(({ callId }) => callId))
  const missing = (toolCalls ?? []).filter((id) => !known.has(id))
  const obstacles: (Refusal | false)[] = [
    kind === 'agent_transfer' && targetAgent === agentName && { code: 'handoff.same_agent', agent: agentName },
    progress.turns === 0 && { code: 'session.no_turns', sessionId },
    facts.priorTurnId === undefined &&
      priorTurn !== undefined && { code: 'turn.not_found', conversationId, turnId: priorTurn },
    missing.length > 0 && { code: 'tool_call.not_found', conversationId, callIds: missing },
  ]
  return obstacles.filter((obstacle) => obstacle !== false)
}

/** The tool calls that led to a handoff: those named, else the exchange's, else the last ones there were. */
const leadingTo = (facts: SourceFacts, { toolCalls }: HandoffRequest): readonly ToolCallReference[] => {
  const latest = facts.exchangeToolCalls.length > 0 ? facts.exchangeToolCalls : facts.lastToolCalls
  return (toolCalls === undefined ? latest : facts.namedToolCalls).map(referenceTo)
}
