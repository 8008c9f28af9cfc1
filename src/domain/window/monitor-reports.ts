import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import {
  type ContextMonitor,
  type MilestoneReached,
  type MonitorEvent,
  type MonitorSettings,
  monitoredPressure,
  type RearmReason,
} from './context-monitor.ts'
import { lowerByCompaction, mergeWindow, raiseBelieved, usedTokens, type WindowParts } from './context-pressure.ts'
import { milestoneProblem, RESTART, reach } from './milestone.ts'
import { UNKNOWN_USAGE, type UsageReading } from './usage-reading.ts'
import type { CompactionTrigger } from './window-event.ts'

/** A report from outside about a window. Times are the producer's own and are compared with nothing else. */
export type MonitorReport = { readonly producedAt?: Instant } & (
  | { readonly type: 'sample'; readonly reading: UsageReading; readonly window?: WindowParts }
  | { readonly type: 'compacting' }
  | {
      readonly type: 'compaction'
      readonly trigger: CompactionTrigger
      readonly preTokens?: number
      /** The runtime's own name for it: reported again under the same one, it is the same, whatever was read between. */
      readonly key?: string
    }
  | { readonly type: 'cleared' }
)

/** The outcome of a report. */
export type ReportOutcome =
  | 'ok'
  | 'not_registered'
  | 'compacting'
  | 'compaction_logged'
  | 'flags_reset'
  | 'stale_sample'
  | 'repeated'

/** A monitor after something was taken in, and what to log and say about it. */
export interface Monitored {
  readonly monitor: ContextMonitor
  readonly outcome: ReportOutcome
  readonly reached?: MilestoneReached
  readonly events: readonly MonitorEvent[]
}

/** Takes a report in. */
export const takeReport = (monitor: ContextMonitor, report: MonitorReport, at: Instant): Monitored => {
  switch (report.type) {
    case 'sample': {
      if (isStale(monitor, report.producedAt)) return unmoved(monitor, 'stale_sample')
      const sampled = sample(monitor, report)
      // Under `auto` the restart milestone belongs to the turn that crosses it, which can initiate the handoff.
      return signal(sampled, at, monitor.policy === 'auto' ? 'all_but_restart' : 'all')
    }
    case 'compacting':
      if (isStale(monitor, report.producedAt)) return unmoved(monitor, 'stale_sample')
      // Said again of the compaction that has just been recorded.
      return monitor.awaitsReading
        ? unmoved(monitor, 'repeated')
        : { monitor: moved(monitor, { isCompacting: true }), outcome: 'compacting', events: [] }
    case 'compaction':
      return takeCompaction(monitor, report, at)
    case 'cleared':
      return isStale(monitor, report.producedAt)
        ? unmoved(monitor, 'stale_sample')
        : rearm(monitor, { why: 'cleared', at, ...defined({ producedAt: report.producedAt }) })
    default:
      return report satisfies never
  }
}

/** The part of a turn that is about the window. */
interface TurnUsage {
  readonly usage: UsageReading
  readonly window?: WindowParts
  readonly producedAt?: Instant
}

/** Takes in what a recorded turn says of the window. One without usage lets the last reading stand. */
export const takeTurn = (monitor: ContextMonitor, { usage, window, producedAt }: TurnUsage, at: Instant): Monitored => {
  // A turn from before a compaction, recorded after it, says nothing of the window that is there now.
  const isNews = (usage.state !== 'unknown' || window !== undefined) && !isStale(monitor, producedAt)
  const reading = usage.state === 'unknown' ? monitor.reading : usage
  return signal(isNews ? sample(monitor, defined({ reading, window, producedAt })) : monitor, at, 'all')
}

const sample = (
  monitor: ContextMonitor,
  { reading, window = {}, producedAt }: Omit<Extract<MonitorReport, { type: 'sample' }>, 'type'>,
): ContextMonitor =>
  moved(monitor, {
    reading,
    window: raiseBelieved(mergeWindow(monitor.window, window), usedTokens(reading) ?? 0),
    isCompacting: false,
    awaitsReading: monitor.awaitsReading && reading.state === 'unknown',
    ...defined({ sampledAt: producedAt }),
  })

/** Says so if a milestone is reached that was not yet, in this cycle. */
const signal = (monitor: ContextMonitor, at: Instant, which: 'all' | 'all_but_restart'): Monitored => {
  const quiet: Monitored = { monitor, outcome: monitor.isEnabled ? 'ok' : 'not_registered', events: [] }
  const pressure = monitoredPressure(monitor)
  const mayFire = monitor.isEnabled && !monitor.isCompacting && milestoneProblem(monitor.milestones) === undefined
  if (!mayFire || pressure.state === 'unknown') return quiet
  const watched = which === 'all' ? monitor.milestones : monitor.milestones.filter(({ name }) => name !== RESTART)
  const { signal: milestone, latchedAt } = reach(watched, pressure.ratio, monitor.latchedAt)
  if (milestone === undefined) return quiet
  const { ratio, usedTokens: used, window } = pressure
  const reached: MilestoneReached = {
    type: 'context.milestone_reached',
    ...about(monitor, at),
    milestone,
    cycle: monitor.cycle,
    ratio,
    ...defined({ usedTokens: used, windowTokens: window?.tokens }),
  }
  return { monitor: moved(monitor, { latchedAt }), outcome: 'ok', reached, events: [reached] }
}

const takeCompaction = (
  monitor: ContextMonitor,
  { trigger, preTokens, producedAt, key }: Extract<MonitorReport, { type: 'compaction' }>,
  at: Instant,
): Monitored => {
  // It is reported two to four times. Before anything was read since the last one, it is the same one.
  const isRepeated = monitor.awaitsReading && !monitor.isCompacting
  const isSame = producedAt !== undefined && monitor.boundaryAt !== undefined && producedAt <= monitor.boundaryAt
  const isKnown = key !== undefined && key === monitor.boundaryKey
  const { window: before } = monitor
  const window = lowerByCompaction(before, defined({ trigger, preTokens }))
  // The first to tell of it may not know where it was.
  if (isRepeated || isSame || isKnown)
    return window === before ? unmoved(monitor, 'repeated') : unmoved(moved(monitor, { window }), 'repeated')
  const next = { ...newCycle(monitor, producedAt), window, ...defined({ boundaryKey: key }) }
  const compacted = { type: 'context.compacted', ...about(monitor, at), trigger, cycle: next.cycle } as const
  const loweredTo = window === before ? undefined : window.compactedAt
  return {
    monitor: next,
    outcome: 'compaction_logged',
    events: [{ ...compacted, ...defined({ preTokens, loweredTo }) }],
  }
}

/** Lets milestones signal anew: all of them, or the restart alone when a restart came to nothing. */
export const rearm = (
  monitor: ContextMonitor,
  { why, at, producedAt }: { readonly why: RearmReason; readonly at: Instant; readonly producedAt?: Instant },
): Monitored => {
  const next = rearmed(monitor, why, producedAt)
  const event: MonitorEvent = { type: 'context.rearmed', ...about(monitor, at), cycle: next.cycle, why }
  return { monitor: next, outcome: 'flags_reset', events: [event] }
}

const rearmed = (monitor: ContextMonitor, why: RearmReason, producedAt: Instant | undefined): ContextMonitor => {
  if (why === 'cleared') return newCycle(monitor, producedAt)
  const isRestartOnly = why === 'restart_ended' || why === 'auto_chosen'
  if (!isRestartOnly) return moved(monitor, { cycle: monitor.cycle + 1, latchedAt: 0 })
  const below = monitor.milestones.filter(({ name }) => name !== RESTART).map(({ at }) => at)
  return moved(monitor, { latchedAt: Math.min(monitor.latchedAt, Math.max(0, ...below)) })
}

/** After a boundary nothing is known until the next reading, unless a newer one is already in. */
const newCycle = (monitor: ContextMonitor, producedAt: Instant | undefined): ContextMonitor => {
  const isOverdue = producedAt !== undefined && monitor.sampledAt !== undefined && producedAt < monitor.sampledAt
  return moved(monitor, {
    reading: isOverdue ? monitor.reading : UNKNOWN_USAGE,
    isCompacting: false,
    awaitsReading: !isOverdue,
    cycle: monitor.cycle + 1,
    latchedAt: 0,
    ...defined({ boundaryAt: producedAt }),
  })
}

/** Changes what may be chosen about a monitor. Switching it on and changing its milestones arm it anew. */
export const setMonitor = (monitor: ContextMonitor, settings: MonitorSettings, at: Instant): Monitored => {
  const { isEnabled = monitor.isEnabled, policy = monitor.policy, milestones = monitor.milestones } = settings
  const { contextLimit = monitor.window.configuredLimit } = settings
  const window = { ...monitor.window, ...defined({ configuredLimit: contextLimit }) }
  const set = moved(monitor, { isEnabled, policy, milestones, window })
  const event = monitorSet(set, settings, at)
  const why = rearmReason(monitor, set)
  if (why === undefined) return { monitor: set, outcome: 'ok', events: [event] }
  const armed = rearm(set, { why, at })
  return { ...armed, events: [event, ...armed.events] }
}

/** The event that says how a window is watched from now on, and which policy was chosen, if one was. */
export const monitorSet = (set: ContextMonitor, { policy }: MonitorSettings, at: Instant): MonitorEvent => {
  const { isEnabled, milestones } = set
  const chosen = defined({ policy, contextLimit: set.window.configuredLimit })
  return { type: 'context.monitor_set', ...about(set, at), isEnabled, milestones, ...chosen }
}

const rearmReason = (before: ContextMonitor, after: ContextMonitor): RearmReason | undefined => {
  const changed = JSON.stringify(before.milestones) !== JSON.stringify(after.milestones)
  if (changed) return 'milestones_changed'
  if (before.window.configuredLimit !== after.window.configuredLimit) return 'limit_changed'
  if (after.isEnabled && !before.isEnabled) return 'enabled'
  // A person who follows the advice and chooses `auto` means the milestone that was already reached.
  return after.policy === 'auto' && before.policy !== 'auto' ? 'auto_chosen' : undefined
}

/** Older than the newest sample or the newest boundary, in the producer's own time. What is not stamped is taken. */
const isStale = ({ boundaryAt, sampledAt }: ContextMonitor, producedAt: Instant | undefined): boolean => {
  if (producedAt === undefined) return false
  return (boundaryAt !== undefined && producedAt < boundaryAt) || (sampledAt !== undefined && producedAt < sampledAt)
}

const unmoved = (monitor: ContextMonitor, outcome: ReportOutcome): Monitored => ({ monitor, outcome, events: [] })

/** One step further. A report that moves a monitor twice still counts once: versions are compared, not counted. */
const moved = (monitor: ContextMonitor, change: Partial<ContextMonitor>): ContextMonitor => ({
  ...monitor,
  ...change,
  version: monitor.version + 1,
})

const about = ({ conversationId, sessionId }: ContextMonitor, at: Instant) =>
  ({ version: 1, conversationId, sessionId, at }) as const
