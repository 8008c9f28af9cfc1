import type { WindowSize } from './context-pressure.ts'
import type { MonitorReport } from './monitor-reports.ts'
import type { CompactionTrigger, WindowEvent } from './window-event.ts'

/** A compaction, with what the window held on either side of it, in prompt tokens. */
export interface CompactionSeen {
  readonly trigger: CompactionTrigger
  /** Tokens that the runtime counted before it. */
  readonly preTokens?: number
  readonly contextBefore?: number
  readonly contextAfter?: number
}

/** The history of a window. Context figures are prompt tokens. */
export interface WindowHistory {
  readonly turns: number
  readonly peakContext: number
  /** Absent while nothing was read. */
  readonly lastContext?: number
  readonly compactions: readonly CompactionSeen[]
  readonly subagentTurns: number
  readonly toolCalls: number
  readonly model?: string
  /** Answers that came without usage. */
  readonly unmetered: number
}

/** Events that a gauge has taken, as far as they are about the session's own thread. */
export interface Gauged {
  /** The events without those of subagents. */
  readonly events: readonly WindowEvent[]
  /**
   * Reports for a monitor, each once. A recorded turn has its own reading, so a program that records turns leaves
   * out each `sample`.
   */
  readonly reports: readonly MonitorReport[]
  /** Whether a request of the main thread was among them that was not known before. */
  readonly isNewTurn: boolean
}

/** Facts that a gauge cannot read. */
export interface WindowGaugeOptions {
  /** Names the runtime that speaks, for the provenance of readings. */
  readonly runtime?: string
  /** The window of a model as it is known from elsewhere. The size that the runtime reports comes before it. */
  readonly believed?: (model: string) => WindowSize | undefined
}
