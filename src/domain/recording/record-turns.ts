import type { BudgetLimit } from '../budget/restart-budget.ts'
import { type Decided, type DecisionDraft, newDraft, UNDECIDED, type Undecided } from '../decision.ts'
import type { SourceFacts, TurnFacts } from '../facts.ts'
import type { HandoffMetadata, TraceContext } from '../handoff/handoff.ts'
import {
  decideHold,
  describeHandoff,
  type HandoffRequest,
  holdFor,
  type NewHandoffIds,
} from '../handoff/initiate-handoff.ts'
import { callsAfter } from '../handoff/leading-calls.ts'
import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { allOf, type Refusal } from '../refusal.ts'
import { restartOn } from '../restart/begin-restart.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { findHeld, type HeldTarget } from '../session/change-session.ts'
import { type ContextSignal, describeReached, milestoneSignals, type NextSignalId } from '../session/context-signal.ts'
import { SESSION } from '../session/session-aggregate.ts'
import { decideSession } from '../session/session-lifecycle.ts'
import { queueSignals } from '../session/session-signals.ts'
import type { StoredSession } from '../session/stored-session.ts'
import type { Turn, TurnDraft } from '../turn/turn.ts'
import type { ContextMonitor, MilestoneReached } from '../window/context-monitor.ts'
import { RESTART } from '../window/milestone.ts'
import { MONITOR } from '../window/monitor-aggregate.ts'
import { takeTurn } from '../window/monitor-reports.ts'
import { refusedReports, reportsIn } from './reported-threads.ts'

/** A request to record turns. A turn is taken only from the session's current holder. */
export interface RecordTurns extends HeldTarget {
  /** However full the window is, these turns lead to no restart: the work is done, or room is already being made. */
  readonly withholdRestart?: boolean
  /** Kept with the restart that these turns may lead to. */
  readonly traceContext?: TraceContext
  /**
   * When the budget allows no restart, these turns do not end the session: its holder does, once what it still says is
   * recorded.
   */
  readonly failLater?: boolean
  /** The work goes to another agent after these turns: the handoff is initiated with them, and no restart is. */
  readonly handOver?: HandOver
}

/** A handoff to another agent that turns lead to. */
export type HandOver = Pick<HandoffRequest, 'targetAgent' | 'reason' | 'document'>

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
  /** The handoff that the last turn led to: one that was asked for, or a restart under the policy `auto`. */
  readonly handoff?: HandoffMetadata
  /** A restart was due, and this part of the budget stood against it. */
  readonly refusedBy?: BudgetLimit
  readonly signals?: readonly ContextSignal[]
}

/** Ids, time and options for recording, beside the turns themselves. */
export interface Recording {
  readonly drafts: readonly TurnDraft[]
  readonly ids: PressureIds
  readonly at: Instant
}

/**
 * Records turns, all of them or none, and takes in what they say of the window. Under the policy `auto` the turn that
 * crosses the restart milestone initiates the restart in the same commit, so that no crash can come between.
 *
 * Undecided when the caller's facts do not say how the window is watched, which tool calls led to a restart that is due,
 * or whether a thread whose outcome is among them was reported before.
 */
export const recordTurns = (
  facts: TurnFacts,
  request: RecordTurns,
  recording: Recording,
): Decided<TurnsRecorded> | Undecided => {
  const found = findHeld(facts, request)
  if (!found.ok) return found
  const { monitor: before } = facts
  if (before === undefined) return UNDECIDED
  const reports = recording.drafts.flatMap(({ messages }) => reportsIn(messages.map(({ input }) => input)))
  if (reports.length > 0 && facts.threads === undefined) return UNDECIDED
  const refused = refusedReports(reports, facts.threads ?? [])
  if (refused !== undefined) return err(refused)
  const draft = newDraft()
  const placed = placeTurns(draft, found.value, recording)
  if (!placed.ok) return placed
  const turns = placed.value
  const { session } = draft.read(SESSION, found.value)
  const reached = watchTurns(draft, before, recording)
  const monitor = draft.read(MONITOR, before)
  const signals = reached.flatMap((milestone) =>
    milestoneSignals(session, milestone, monitor.window, recording.ids.signal),
  )
  queueSignals(draft, signals)
  const recorded: TurnsRecorded = { session, turns, monitor, ...(signals.length > 0 && { signals }) }
  const { handOver } = request
  const isLeft = handOver !== undefined || (request.withholdRestart !== true && isRestartDue(monitor, reached))
  if (!isLeft) return draft.finish(recorded)
  const source = sourceAfter(facts, recorded, recording.at)
  if (source === undefined) return UNDECIDED
  const context = { ids: recording.ids.handoff, at: recording.at }
  if (handOver !== undefined) {
    const begun = handOverOn(draft, source, { ...defined(request), ...handOver }, context)
    return begun.ok ? draft.finish({ ...recorded, ...begun.value }) : begun
  }
  const restart = restartOn(draft, source, { ...request, reason: reasonOf(reached, monitor) }, context)
  return restart.ok ? draft.finish({ ...recorded, ...restart.value }) : restart
}

/** Initiates the handoff of a session as the draft has left it. */
const handOverOn = (
  draft: DecisionDraft,
  facts: SourceFacts,
  request: RecordTurns & HandOver,
  { ids, at }: { readonly ids: NewHandoffIds; readonly at: Instant },
): Result<{ readonly handoff: HandoffMetadata; readonly session: AgentSession }, Refusal> => {
  const found = findHeld(facts, request)
  if (!found.ok) return found
  const { session } = draft.read(SESSION, found.value)
  const transfer = { ...request, kind: 'agent_transfer' as const }
  const may = allOf({
    held: decideHold(session, { handoffId: ids.handoffId, at }),
    initiated: describeHandoff(facts, session, transfer, { id: ids.handoffId, at }),
  })
  return may.ok ? ok(holdFor(draft, found.value, may.value, { ids, at })) : may
}

const placeTurns = (
  draft: DecisionDraft,
  working: StoredSession,
  { drafts, at }: Recording,
): Result<readonly Turn[], Refusal> => {
  const turns: Turn[] = []
  for (const turn of drafts) {
    const decided = decideSession(draft.read(SESSION, working).session, { type: 'record_turn', turn, at })
    if (!decided.ok) return decided
    draft.record(SESSION, working, decided.value)
    if (decided.value.type === 'turn.recorded') turns.push(decided.value.turn)
  }
  return ok(turns)
}

const watchTurns = (
  draft: DecisionDraft,
  before: ContextMonitor,
  { drafts, at }: Recording,
): readonly MilestoneReached[] =>
  drafts.flatMap((turn) => {
    const { monitor, reached, events } = takeTurn(draft.read(MONITOR, before), turn, at)
    draft.move(MONITOR, before, monitor, ...events)
    return reached ?? []
  })

const isRestartDue = ({ policy }: ContextMonitor, reached: readonly MilestoneReached[]): boolean =>
  policy === 'auto' && reached.some(({ milestone }) => milestone.name === RESTART)

/** The facts that a restart is decided on after these turns; `undefined` when only the store knows all of them. */
const sourceAfter = (facts: TurnFacts, { session, turns }: TurnsRecorded, now: Instant): SourceFacts | undefined => {
  const calls = callsAfter(session, turns, facts)
  const priorTurnId = turns.at(-1)?.id
  if (
    calls === undefined ||
    priorTurnId === undefined ||
    facts.conversation === undefined ||
    facts.restarts === undefined
  )
    return undefined
  return { ...facts, ...calls, priorTurnId, namedToolCalls: [], now }
}

const reasonOf = (reached: readonly MilestoneReached[], { window }: ContextMonitor): string => {
  const last = reached.at(-1)
  return last === undefined ? 'The context window is full.' : `The context window is ${describeReached(last, window)}.`
}
