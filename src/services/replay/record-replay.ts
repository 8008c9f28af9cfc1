import type { UsageReading } from '../../domain/window/usage-reading.ts'
import type { Gauged } from '../../domain/window/window-history.ts'
import type { WindowReader } from '../../ports/agent/window-reader.ts'
import { RecordSource, type RecordSourceOptions } from './record-source.ts'
import { RecordedWindow, type RecordedWindowOptions, type WindowReplay } from './recorded-window.ts'

/** The history of a recorded window, and how well it could be read. */
export interface Replay extends WindowReplay {
  readonly format: string
  readonly lines: number
  /** Lines that are no JSON, such as the last one of a file that is still being written. */
  readonly damagedLines: number
}

/** One record, once the gauge has taken what it says. */
export interface RecordSeen extends Gauged {
  readonly record: unknown
  readonly reader: WindowReader
  /** How full the window is after it. */
  readonly reading: UsageReading
}

/** How to replay. */
export interface ReplayOptions extends RecordedWindowOptions, RecordSourceOptions {
  /** Told of every record, and waited for. */
  readonly onRecord?: (seen: RecordSeen) => Promise<void>
}

/** Follows a recording from its first line to its last, in memory that does not grow with its length. */
export const replay = async (lines: AsyncIterable<string>, options: ReplayOptions): Promise<Replay> => {
  const window = new RecordedWindow(options)
  const source = new RecordSource(options)
  let latest: WindowReader | undefined
  for await (const line of lines) {
    for (const record of source.take(line)) {
      const { reader } = source
      if (reader === undefined) continue
      // A limit that somebody names is taken as it is, wherever the runtime compacts.
      if (latest !== reader && options.limit === undefined) window.gauge.take(reader.known?.({}) ?? [])
      latest = reader
      const gauged = window.take(reader.read(record))
      await options.onRecord?.({ ...gauged, record, reader, reading: window.gauge.reading() })
    }
  }
  source.end()
  return {
    ...window.result(),
    format: source.reader?.format ?? 'unknown',
    lines: source.lines,
    damagedLines: source.damaged,
  }
}
