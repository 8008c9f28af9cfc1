import { type Decided, type DecisionDraft, newDraft } from '../decision.ts'
import type { SourceFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { HandoffId, SnapshotId, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { noteOf } from '../kernel/metadata.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { allOf, type Refusal, refuseForAll } from '../refusal.ts'
import { type AgentSession, heldBy } from '../session/agent-session.ts'
import { type ChangeTarget, findChanged } from '../session/change-session.ts'
import { SESSION } from '../session/session-aggregate.ts'
import type { SessionMoved } from '../session/session-event.ts'
import { decideSession } from '../session/session-lifecycle.ts'
import { takeSnapshot } from '../session/snapshot-aggregate.ts'
import type { StoredSession } from '../session/stored-session.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import type { HandoffFlag, HandoffKind, HandoffMetadata, TraceContext } from './handoff.ts'
import { HANDOFF } from './handoff-aggregate.ts'
import type { HandoffInitiated } from './handoff-lifecycle.ts'
import { leadingCalls } from './leading-calls.ts'

/** The details of every handoff. */
export interface HandoffRequest extends ChangeTarget {
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

/** A request to initiate a handoff. */
export interface InitiateHandoff extends HandoffRequest {
  /** `agent_transfer` unless said otherwise. Threads have a command of their own. */
  readonly kind?: Exclude<HandoffKind, 'thread'>
}

/** The ids a new handoff needs. */
export interface NewHandoffIds {
  readonly handoffId: HandoffId
  readonly snapshotId: SnapshotId
}

/** The answer to initiating a handoff. */
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
  const found = findChanged(facts, request)
  if (!found.ok) return found
  const { session } = found.value
  const may = allOf({
    held: decideHold(session, { handoffId: ids.handoffId, at }),
    initiated: describeHandoff(facts, session, { ...request, kind }, { id: ids.handoffId, at }),
  })
  if (!may.ok) return may
  const draft = newDraft()
  const begun = holdFor(draft, found.value, may.value, { ids, at })
  return draft.finish(defined({ ...begun, monitor: facts.monitor }))
}

/** May a handoff hold this session now? One that is already open says more than the state of the session. */
export const decideHold = (
  session: AgentSession,
  { handoffId, at }: { readonly handoffId: HandoffId; readonly at: Instant },
): Result<SessionMoved, Refusal> => {
  const held = decideSession(session, { type: 'hold', handoffId, at })
  const open = heldBy(session)
  return held.ok || open === undefined
    ? held
    : err({ code: 'handoff.already_open', sessionId: session.id, handoffId: open })
}

/** Begins a handoff that may be, and lets it hold its source; with a picture of the window that it leaves. */
export const holdFor = (
  draft: DecisionDraft,
  source: StoredSession,
  { initiated, held }: { readonly initiated: HandoffInitiated; readonly held: SessionMoved },
  { ids, at }: { readonly ids: NewHandoffIds; readonly at: Instant },
): { readonly handoff: HandoffMetadata; readonly session: AgentSession } => {
  const handoff = draft.begin(HANDOFF, initiated)
  const { session } = draft.record(SESSION, source, held)
  takeSnapshot(draft, session, { id: ids.snapshotId, type: 'handoff_initiated', at })
  return { handoff, session }
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
  session: AgentSession,
  request: HandoffRequest & { readonly kind: HandoffKind },
  { id, at }: { readonly id: HandoffId; readonly at: Instant },
): Result<HandoffInitiated, Refusal> => {
  const { kind, reason = REASONS[kind], document, flags = [], traceContext } = request
  const { conversationId, id: sourceSessionId, agentName: sourceAgent } = session
  const { targetAgent } = request
  const { priorTurnId } = facts
  const obstacles = obstaclesTo(facts, session, request)
  const refused = refuseForAll(obstacles)
  if (refused !== undefined) return err(refused)
  if (priorTurnId === undefined) throw new TypeError('A session that took turns has a latest one')
  const origin = { id, kind, conversationId, sourceSessionId, sourceAgent, targetAgent, reason, document, priorTurnId }
  const handoff = defined({
    ...origin,
    triggeringToolCalls: leadingCalls(facts, request.toolCalls && facts.namedToolCalls),
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
  const recorded = new Set(facts.namedToolCalls.map(({ callId }) => callId))
  const missing = (toolCalls ?? []).filter((id) => !recorded.has(id))
  const obstacles: (Refusal | false)[] = [
    kind === 'agent_transfer' && targetAgent === agentName && { code: 'handoff.same_agent', agent: agentName },
    progress.turns === 0 && { code: 'session.no_turns', sessionId },
    facts.priorTurnId === undefined &&
      priorTurn !== undefined && { code: 'turn.not_found', conversationId, turnId: priorTurn },
    missing.length > 0 && { code: 'tool_call.not_found', conversationId, callIds: missing },
  ]
  return obstacles.filter((obstacle) => obstacle !== false)
}
