import { type Decided, type DecisionDraft, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import type { ContextMonitor, MonitorEvent, MonitorSettings } from '../window/context-monitor.ts'
import { MONITOR } from '../window/monitor-aggregate.ts'
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
import { SESSION } from './session-aggregate.ts'
import { queueSignals, withdrawSignals } from './session-signals.ts'
import { takeSnapshot } from './snapshot-aggregate.ts'
import type { StoredSession } from './stored-session.ts'

/** The answer to a report. */
export interface ContextReported {
  readonly monitor: ContextMonitor
  readonly outcome: ReportOutcome
  readonly signals?: readonly ContextSignal[]
}

/** Ids and time for a decision about a window. */
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
  const draft = newDraft()
  // What has ended has no window: there is nothing to say of it, and nobody to say it to.
  if (isTerminal(found.value.session)) return draft.finish({ monitor: before, outcome: 'not_registered' })
  const { monitor, outcome, reached, events } = take(before)
  if (monitor === before) return draft.finish({ monitor, outcome })
  draft.move(MONITOR, before, monitor, ...events)
  // What was still to be said is about a window that is gone, or was measured otherwise.
  if (isArmedAnew(events)) withdrawSignals(draft, monitor, context.at)
  const { session } = found.value
  const compacted = events.find((event) => event.type === 'context.compacted')
  if (compacted !== undefined) truncate(draft, found.value, context)
  const signals = [
    ...(reached === undefined ? [] : milestoneSignals(session, reached, monitor.window, context.signal)),
    ...(compacted === undefined ? [] : compactionSignals(session, compacted, context.signal)),
  ]
  queueSignals(draft, signals)
  return draft.finish({ monitor, outcome, ...(signals.length > 0 && { signals }) })
}

const isArmedAnew = (events: readonly MonitorEvent[]): boolean =>
  events.some(({ type }) => type === 'context.rearmed' || type === 'context.compacted')

/** A picture of what the window held, then an empty window. */
const truncate = (
  draft: DecisionDraft,
  working: StoredSession,
  { snapshotId: id, at }: Pick<WatchContext, 'snapshotId' | 'at'>,
): void => {
  const truncated = draft.apply(SESSION, working, { type: 'truncate', at })
  if (truncated.ok) takeSnapshot(draft, working.session, { id, type: 'truncation', at })
}
