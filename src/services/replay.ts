import type { WindowEvent } from '../domain/window/window-event.ts'
import type { WindowHistory, WindowSample, WindowTrackerOptions } from '../domain/window/window-history.ts'
import { WindowTracker } from '../domain/window/window-tracker.ts'
import type { WindowReader } from '../ports/window-reader.ts'
import { RecordSource, type RecordSourceOptions } from './record-source.ts'
import { Chart, Threshold, type ThresholdReplay } from './replay-figures.ts'

/** What a recorded window went through, and how well it could be read. */
export interface Replay extends WindowHistory {
  readonly format: string
  readonly lines: number
  /** Lines that are no JSON, such as the last one of a file that is still being written. */
  readonly damagedLines: number
  /** What other thresholds would have done, each on its own. */
  readonly thresholds: readonly ThresholdReplay[]
  /** The fullest the window was, in equal stretches of the recording; fractions where the window is known. */
  readonly chart: readonly number[]
}

/** One record, once the tracker has taken what it says. */
export interface RecordSeen {
  readonly record: unknown
  readonly reader: WindowReader
  readonly events: readonly WindowEvent[]
  /** Whether the record began a turn of the main thread. */
  readonly isNewTurn: boolean
  readonly tracker: WindowTracker
}

/** How to replay. */
export interface ReplayOptions extends WindowTrackerOptions, RecordSourceOptions {
  readonly thresholds?: readonly number[]
  /** Told of every record, and waited for. */
  readonly onRecord?: (seen: RecordSeen) => Promise<void>
}

/** Follows a recording from its first line to its last, in memory that does not grow with its length. */
export const replay = async (lines: AsyncIterable<string>, options: ReplayOptions): Promise<Replay> => {
  const thresholds = (options.thresholds ?? []).map((at) => new Threshold(at))
  const chart = new Chart()
  const onSample = (sample: WindowSample): void => {
    for (const figure of [chart, ...thresholds]) figure.see(sample)
  }
  const tracker = new WindowTracker({ ...options, onSample })
  const source = new RecordSource(options)
  for await (const line of lines) {
    for (const record of source.take(line)) {
      const seen = see(record, source.reader, tracker)
      if (seen !== undefined) await options.onRecord?.(seen)
    }
  }
  source.end()
  return {
    ...tracker.history(),
    format: source.reader?.format ?? 'unknown',
    lines: source.lines,
    damagedLines: source.damaged,
    thresholds: thresholds.map((threshold) => threshold.result()),
    chart: chart.columns(),
  }
}

const see = (record: unknown, reader: WindowReader | undefined, tracker: WindowTracker): RecordSeen | undefined => {
  if (reader === undefined) return undefined
  const { turns } = tracker
  const events = reader.read(record)
  for (const event of events) tracker.take(event)
  return { record, reader, events, isNewTurn: tracker.turns > turns, tracker }
}
