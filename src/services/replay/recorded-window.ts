import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { mergeWindow, usableWindow, type WindowSize } from '../../domain/window/context-pressure.ts'
import type { Milestone } from '../../domain/window/milestone.ts'
import type { MonitorReport } from '../../domain/window/monitor-reports.ts'
import type { WindowEvent } from '../../domain/window/window-event.ts'
import { WindowGauge } from '../../domain/window/window-gauge.ts'
import type { Gauged, WindowGaugeOptions, WindowHistory } from '../../domain/window/window-history.ts'
import { levelIn, type WindowLevel } from '../../domain/window/window-level.ts'
import { RecordedMonitor } from './recorded-monitor.ts'
import { Chart, type ThresholdReplay, Thresholds } from './replay-figures.ts'

/** A milestone that would have been signalled. */
export interface SignalSeen {
  readonly milestone: string
  readonly at: number
  readonly turn: number
  readonly pressure: number
  /** The prompt tokens of the reading. Absent where all that is known is a percentage. */
  readonly context?: number
  readonly time?: Instant
}

/** How a recorded window is watched. */
export interface RecordedWindowOptions extends WindowGaugeOptions {
  readonly milestones: readonly Milestone[]
  /** The tokens that somebody allows. */
  readonly limit?: number
  /** Other fractions to compare with, each on its own. */
  readonly thresholds?: readonly number[]
}

/** The history of a recorded window, and the signals it would have caused. */
export interface WindowReplay extends WindowHistory {
  /** The usable window. */
  readonly window?: WindowSize
  /** The whole window of the model. */
  readonly wholeWindow?: WindowSize
  /** How full it was in the end. */
  readonly level: WindowLevel
  readonly signals: readonly SignalSeen[]
  /** The effect of other thresholds, each on its own. */
  readonly thresholds: readonly ThresholdReplay[]
  /** The fullest the window was, in equal stretches of the recording; fractions where the window is known. */
  readonly chart: readonly number[]
}

/** The window of a recording: a gauge reads it, and a monitor says when a milestone is reached. */
export class RecordedWindow {
  readonly gauge: WindowGauge
  readonly #monitor: RecordedMonitor
  readonly #thresholds: Thresholds
  readonly #chart = new Chart()
  readonly #signals: SignalSeen[] = []

  constructor(options: RecordedWindowOptions) {
    const { milestones, limit, thresholds = [] } = options
    this.gauge = new WindowGauge(options)
    this.#monitor = new RecordedMonitor(milestones, limit)
    this.#thresholds = new Thresholds(thresholds, limit)
  }

  /** Takes the events of the next record. */
  take(events: readonly WindowEvent[]): Gauged {
    const gauged = this.gauge.take(events)
    for (const report of gauged.reports) this.#watch(report)
    return gauged
  }

  /** The history of the window so far. */
  result(): WindowReplay {
    // The size may have been told after the last reading.
    const parts = mergeWindow(this.#monitor.window, this.gauge.windowParts())
    return defined({
      ...this.gauge.history(),
      window: usableWindow(parts),
      wholeWindow: parts.hardLimit,
      level: levelIn(this.gauge.reading(), parts),
      signals: [...this.#signals],
      thresholds: this.#thresholds.result(),
      chart: this.#chart.columns(),
    })
  }

  #watch(report: MonitorReport): void {
    const { turns: turn } = this.gauge
    const { reached } = this.#monitor.take(report)
    this.#thresholds.take(report, turn)
    if (report.type !== 'sample') return
    const { pressure } = this.#monitor
    if (pressure.state === 'known') this.#chart.see(turn, pressure.ratio)
    if (reached === undefined) return
    const { name: milestone, at } = reached.milestone
    const context = report.reading.state === 'metered' ? report.reading.promptTokens : undefined
    const { producedAt: time } = report
    this.#signals.push(defined({ milestone, at, turn, pressure: reached.ratio, context, time }))
  }
}
