import type { AuditEvent } from '../audit-event.ts'
import { type Change, type Decided, type Decision, expecting } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok } from '../kernel/result.ts'
import type { ContextMonitor, MonitorSettings } from '../window/context-monitor.ts'
import {
  type Monitored,
  type MonitorReport,
  type ReportOutcome,
  setMonitor,
  takeReport,
} from '../window/monitor-reports.ts'
import { isTerminal } from './agent-session.ts'
import { findWorking, type SessionTarget } from './change-session.ts'
import { type ContextSignal, compactionSignals, milestoneSignals, type NextSignalId } from './context-signal.ts'
import { captureWindow } from './context-snapshot.ts'
import { decideSession, evolveSession } from './session-lifecycle.ts'

/** What a report answers with. */
export interface ContextReported {
  readonly monitor: ContextMonitor
  readonly outcome: ReportOutcome
  readonly signals?: readonly ContextSignal[]
}

/** What a decision about a window may need. */
export interface WatchContext {
  readonly signal: NextSignalId
  readonly snapshotId: SnapshotId
  readonly at: Instant
}

/** Takes in what the outside says about a window: a sample, a compaction, a clear. */
export const reportContext = (
  facts: SessionFacts,
  target: SessionTarget,
  report: MonitorReport,
  context: WatchContext,
): Decided<ContextReported> => {
  return watch(facts, target, context, (monitor) => takeReport(monitor, report, context.at))
}

/** Changes what may be chosen about a monitor. */
export const watchContext = (
  facts: SessionFacts,
  target: SessionTarget,
  settings: MonitorSettings,
  context: WatchContext,
): Decided<ContextReported> => {
  return watch(facts, target, context, (monitor) => setMonitor(monitor, settings, context.at))
}

const watch = (
  facts: SessionFacts,
  target: SessionTarget,
  context: WatchContext,
  take: (monitor: ContextMonitor) => Monitored,
): Decided<ContextReported> => {
  const found = findWorking(facts, target)
  if (!found.ok) return found
  const { monitor: before } = facts
  if (before === undefined) return err({ code: 'session.not_found', sessionId: target.sessionId })
  // What has ended has no window: there is nothing to say of it, and nobody to say it to.
  if (isTerminal(found.value.session)) return ok(nothingDone(before))
  const { monitor, outcome, reached, events } = take(before)
  if (monitor === before) return ok({ changes: [], events: [], answer: { monitor, outcome } })
  const { session } = found.value
  const compacted = events.find((event) => event.type === 'context.compacted')
  const signals = [
    ...(reached === undefined ? [] : milestoneSignals(session, reached, context.signal)),
    ...(compacted === undefined ? [] : compactionSignals(session, compacted, context.signal)),
  ]
  const truncation = compacted === undefined ? NOTHING : truncate(found.value, context)
  return ok({
    changes: [
      ...truncation.changes,
      { type: 'move_monitor', monitor, expected: before.version },
      // What was still to be said is about a window that is gone, or was measured otherwise.
      ...(isArmedAnew(events) ? [withdrawal(monitor, context.at)] : []),
      ...signals.map((signal) => ({ type: 'add_signal' as const, signal })),
    ],
    events: [...events, ...truncation.events],
    answer: { monitor, outcome, ...(signals.length > 0 && { signals }) },
  })
}

const nothingDone = (monitor: ContextMonitor): Decision<ContextReported> => ({
  changes: [],
  events: [],
  answer: { monitor, outcome: 'not_registered' },
})

const isArmedAnew = (events: readonly AuditEvent[]): boolean =>
  events.some(({ type }) => type === 'context.rearmed' || type === 'context.compacted')

const withdrawal = ({ conversationId, sessionId: aboutId }: ContextMonitor, at: Instant): Change => ({
  type: 'withdraw_signals',
  conversationId,
  aboutId,
  at,
})

interface Truncation {
  readonly changes: readonly Change[]
  readonly events: readonly AuditEvent[]
}

const NOTHING: Truncation = { changes: [], events: [] }

/** A picture of what the window held, then an empty window. */
const truncate = (
  working: Parameters<typeof expecting>[0],
  { snapshotId: id, at }: Pick<WatchContext, 'snapshotId' | 'at'>,
): Truncation => {
  const { session } = working
  const decided = decideSession(session, { type: 'truncate', at })
  if (!decided.ok) return NOTHING
  const { conversationId } = session
  const snapshot = captureWindow(session, { id, type: 'truncation', at })
  const moved = { ...working, session: evolveSession(session, decided.value) }
  return {
    changes: [
      { type: 'move_session', working: moved, expected: expecting(working) },
      { type: 'add_snapshot', snapshot },
    ],
    events: [decided.value, { type: 'snapshot.captured', version: 1, conversationId, at, snapshot }],
  }
}
