import type { Instant } from '../kernel/instant.ts'
import type { WindowSize } from './context-pressure.ts'
import type { Milestone } from './milestone.ts'
import type { CompactionTrigger } from './window-event.ts'

/** A compaction, with what the window held on either side of it, in prompt tokens. */
export interface CompactionSeen {
  readonly trigger: CompactionTrigger
  /** What the runtime counted before it. */
  readonly preTokens?: number
  readonly contextBefore?: number
  readonly contextAfter?: number
}

/** A milestone that was reached. */
export interface SignalSeen {
  readonly milestone: string
  readonly at: number
  readonly turn: number
  readonly pressure: number
  readonly context: number
  readonly time?: Instant
}

/** What a window went through. Context figures are prompt tokens. */
export interface WindowHistory {
  readonly turns: number
  readonly peakContext: number
  /** Absent while nothing was read. */
  readonly lastContext?: number
  readonly window?: WindowSize
  readonly compactions: readonly CompactionSeen[]
  readonly subagentTurns: number
  readonly toolCalls: number
  readonly signals: readonly SignalSeen[]
  readonly model?: string
  /** Answers that came without usage. */
  readonly unmetered: number
}

/** How full the window was at a turn. */
export interface WindowSample {
  readonly turn: number
  /** How often the window began anew. */
  readonly cycle: number
  readonly context: number
  /** Absent while the window is unknown. */
  readonly ratio?: number
}

/** What decides how full is full. */
export interface WindowTrackerOptions {
  /** Which runtime speaks, for the provenance of readings. */
  readonly runtime?: string
  readonly milestones: readonly Milestone[]
  /** A window that is known from elsewhere; what the runtime reports comes before it, a configured limit before that. */
  readonly believed?: (model: string) => WindowSize | undefined
  readonly limit?: number
  /** Told of every reading, for whoever wants more than the summary. */
  readonly onSample?: (sample: WindowSample) => void
}
