import type { AuditEvent } from '../audit-event.ts'
import type { BudgetLimit } from '../budget/restart-budget.ts'
import { type Change, type Decided, expecting } from '../decision.ts'
import type { TurnFacts } from '../facts.ts'
import type { HandoffMetadata, TraceContext } from '../handoff/handoff.ts'
import type { NewHandoffIds } from '../handoff/initiate-handoff.ts'
import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { ok, type Result } from '../kernel/result.ts'
import type { Refusal } from '../refusal.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { findHeld, type HeldTarget } from '../session/change-session.ts'
import { type ContextSignal, milestoneSignals, type NextSignalId } from '../session/context-signal.ts'
import { decideSession, evolveSession } from '../session/session-lifecycle.ts'
import type { Turn, TurnDraft } from '../turn/turn.ts'
import type { ContextMonitor, MilestoneReached } from '../window/context-monitor.ts'
import { RESTART } from '../window/milestone.ts'
import { takeTurn } from '../window/monitor-reports.ts'
import { restartAfter } from './restart-after.ts'

/** What it takes to record turns. A turn is taken only from the session's current holder. */
export interface RecordTurns extends HeldTarget {
  /** However full the window is, these turns lead to no restart: the work is done, or room is already being made. */
  readonly withholdRestart?: boolean
  /** Kept with the restart that these turns may lead to. */
  readonly traceContext?: TraceContext
  /**
   * When the budget allows no restart, these turns do not fail the session: its holder does, once what it still says is
   * recorded.
   */
  readonly failLater?: boolean
}

/** The ids that recording turns may need beside those of the turns: for what a full window leads to. */
export interface PressureIds {
  readonly signal: NextSignalId
  readonly handoff: NewHandoffIds
}

/** The turns with their places, the session they leave behind, and what they say of its window. */
export interface TurnsRecorded {
  readonly session: AgentSession
  readonly turns: readonly Turn[]
  readonly monitor: ContextMonitor
  /** The restart that the last turn led to, under the policy `auto`. */
  readonly handoff?: HandoffMetadata
  /** A restart was due, and this part of the budget stood against it. */
  readonly refusedBy?: BudgetLimit
  readonly signals?: readonly ContextSignal[]
}

/** What recording needs to know, beside the turns themselves. */
export interface Recording {
  readonly drafts: readonly TurnDraft[]
  readonly ids: PressureIds
  readonly at: Instant
}

/**
 * Records turns, all of them or none, and takes in what they say of the window. Under the policy `auto` the turn that
 * crosses the restart milestone initiates the restart in the same commit, so that no crash can come between.
 *
 * Undecided when a restart is due and the caller's facts do not say which tool calls led to it.
 */
export const recordTurns = (
  facts: TurnFacts,
  request: RecordTurns,
  recording: Recording,
): Decided<TurnsRecorded> | undefined => {
  const found = findHeld(facts, request)
  if (!found.ok) return found
  const { monitor: before } = facts
  if (before === undefined) return undefined
  const placed = placeTurns(found.value.session, recording)
  if (!placed.ok) return placed
  const { session, turns, events, changes } = placed.value
  const watched = watchTurns(before, recording)
  const signals = watched.reached.flatMap((reached) => milestoneSignals(session, reached, recording.ids.signal))
  const { holder } = found.value
  const kept: TurnsRecorded = {
    session,
    turns,
    monitor: watched.monitor,
    ...(signals.length > 0 && { signals }),
  }
  const guard = expecting(found.value)
  const pressure = {
    changes: pressureChanges(before, watched.monitor, signals),
    events: [...events, ...watched.reached],
  }
  if (request.withholdRestart === true || !isRestartDue(watched.monitor, watched.reached)) {
    const moved: Change = { type: 'move_session', working: { session, holder }, expected: guard }
    return ok({ changes: [moved, ...changes, ...pressure.changes], events: pressure.events, answer: kept })
  }
  const { traceContext, failLater } = request
  const due = { ...recording, reached: watched.reached, guard, ...defined({ traceContext, failLater }) }
  const restart = restartAfter(facts, { ...kept, holder }, due)
  if (restart === undefined || !restart.ok) return restart
  const { answer } = restart.value
  // The budget let the session be: it only took these turns.
  const moved: readonly Change[] =
    answer.refusedBy !== undefined && answer.session.version === session.version
      ? [{ type: 'move_session', working: { session, holder }, expected: guard }]
      : restart.value.changes
  return ok({
    changes: [...changes, ...moved, ...pressure.changes],
    events: [...pressure.events, ...restart.value.events],
    answer: defined({ ...kept, handoff: answer.handoff, session: answer.session, refusedBy: answer.refusedBy }),
  })
}

interface Placed {
  readonly session: AgentSession
  readonly turns: readonly Turn[]
  readonly events: readonly AuditEvent[]
  readonly changes: readonly Change[]
}

const placeTurns = (before: AgentSession, { drafts, at }: Recording): Result<Placed, Refusal> => {
  let session = before
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
  return ok({ session, turns, events, changes })
}

const watchTurns = (before: ContextMonitor, { drafts, at }: Recording) => {
  const reached: MilestoneReached[] = []
  let monitor = before
  for (const draft of drafts) {
    const taken = takeTurn(monitor, draft, at)
    monitor = taken.monitor
    if (taken.reached !== undefined) reached.push(taken.reached)
  }
  return { monitor, reached }
}

const pressureChanges = (
  before: ContextMonitor,
  monitor: ContextMonitor,
  signals: readonly ContextSignal[],
): readonly Change[] => [
  // Compared though nothing may have changed: what others reported meanwhile counts, whatever the caller still holds.
  { type: 'move_monitor', monitor, expected: before.version },
  ...signals.map((signal) => ({ type: 'add_signal' as const, signal })),
]

const isRestartDue = ({ policy }: ContextMonitor, reached: readonly MilestoneReached[]): boolean =>
  policy === 'auto' && reached.some(({ milestone }) => milestone.name === RESTART)
