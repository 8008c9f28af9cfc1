import { defined } from '../../domain/kernel/defined.ts'
import { agentSessionId, conversationId } from '../../domain/kernel/ids.ts'
import { instant } from '../../domain/kernel/instant.ts'
import {
  type ContextMonitor,
  type MilestoneReached,
  monitoredPressure,
  newMonitor,
} from '../../domain/window/context-monitor.ts'
import type { Pressure, WindowParts } from '../../domain/window/context-pressure.ts'
import type { Milestone } from '../../domain/window/milestone.ts'
import { type MonitorReport, takeReport } from '../../domain/window/monitor-reports.ts'

/** A recording belongs to no session, and nothing of its monitor is stored. */
const NOBODY = '00000000-0000-0000-0000-000000000000'
const OF_NOBODY = { conversationId: conversationId(NOBODY), sessionId: agentSessionId(NOBODY) }
const UNDATED = instant(0)

/** The effect of a report on a monitor. */
export interface Watched {
  readonly reached?: MilestoneReached
  /** The milestones that it spent: a jump over several reaches the highest, and spends all of them. */
  readonly spent: readonly Milestone[]
}

/** A monitor as a session has one, for a recording: the same rules say when a milestone is reached. */
export class RecordedMonitor {
  readonly #limit: number | undefined
  #monitor: ContextMonitor

  constructor(milestones: readonly Milestone[], limit: number | undefined) {
    this.#limit = limit
    this.#monitor = newMonitor(OF_NOBODY, defined({ milestones, contextLimit: limit }))
  }

  get pressure(): Pressure {
    return monitoredPressure(this.#monitor)
  }

  get window(): WindowParts {
    return this.#monitor.window
  }

  /** Takes a report of the gauge. */
  take(report: MonitorReport): Watched {
    const { latchedAt: before, milestones } = this.#monitor
    const { monitor, reached } = takeReport(this.#monitor, this.#asWatched(report), UNDATED)
    this.#monitor = monitor
    return defined({ reached, spent: milestones.filter(({ at }) => at > before && at <= monitor.latchedAt) })
  }

  #asWatched({ producedAt: _, ...report }: MonitorReport): MonitorReport {
    // A recording is in the order of its lines. The times in it may not be, and are not compared.
    if (report.type !== 'compaction' || this.#limit === undefined) return report
    // A limit that somebody names is taken as it is, wherever the runtime compacted.
    const { preTokens: __, ...rest } = report
    return rest
  }
}
