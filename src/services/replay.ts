import { defined } from '../domain/defined.ts'
import type { Milestone } from '../domain/milestone.ts'
import type { WindowHistory, WindowSample, WindowTrackerOptions } from '../domain/window-history.ts'
import { WindowTracker } from '../domain/window-tracker.ts'
import type { WindowReader } from '../ports/window-reader.ts'

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

/** What one threshold on its own would have done. */
export interface ThresholdReplay {
  readonly at: number
  /** How often it would have been reached, once per cycle. */
  readonly times: number
  readonly firstTurn?: number
}

/** How to replay. */
export interface ReplayOptions extends WindowTrackerOptions {
  readonly readers: readonly WindowReader[]
  /** Take the recording to be of this format instead of looking. */
  readonly format?: string
  readonly thresholds?: readonly number[]
  /** Told now and then how many lines were read. */
  readonly onProgress?: (lines: number) => void
}

/** No reader knows this recording. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError'
}

const LINES_TO_LOOK_AT = 200
const PROGRESS_EVERY = 5_000

/** Follows a recording from its first line to its last, in memory that does not grow with its length. */
export const replay = async (lines: AsyncIterable<string>, options: ReplayOptions): Promise<Replay> => {
  const thresholds = (options.thresholds ?? []).map((at) => new Threshold(at))
  const chart = new Chart()
  const onSample = (sample: WindowSample): void => {
    chart.add(sample.ratio ?? 0)
    for (const threshold of thresholds) threshold.see(sample)
  }
  const tracker = new WindowTracker(defined({ ...options, onSample }))
  const source = new RecordSource(options)
  let count = 0
  for await (const line of lines) {
    count += 1
    if (count % PROGRESS_EVERY === 0) options.onProgress?.(count)
    for (const event of source.take(line)) tracker.take(event)
  }
  for (const event of source.rest()) tracker.take(event)
  return {
    ...tracker.history(),
    format: source.format,
    lines: count,
    damagedLines: source.damaged,
    thresholds: thresholds.map((threshold) => threshold.result()),
    chart: chart.columns(),
  }
}

/** Parses lines, and finds out whose they are from the first ones that say so. */
class RecordSource {
  readonly #readers: readonly WindowReader[]
  #reader: WindowReader | undefined
  #held: unknown[] = []
  damaged = 0

  constructor({ readers, format }: ReplayOptions) {
    this.#readers = readers
    if (format === undefined) return
    this.#reader = readers.find((reader) => reader.format === format)
    if (this.#reader === undefined) throw new UnknownFormatError(`There is no format "${format}". ${this.#known()}`)
  }

  get format(): string {
    return this.#reader?.format ?? 'unknown'
  }

  take(line: string) {
    if (line.trim() === '') return []
    const record = this.#parse(line)
    if (record === undefined) return []
    if (this.#reader !== undefined) return this.#reader.read(record)
    this.#held.push(record)
    this.#reader = this.#readers.find((reader) => reader.recognises(record))
    if (this.#reader !== undefined) return this.rest()
    if (this.#held.length >= LINES_TO_LOOK_AT) throw this.#unknown()
    return []
  }

  /** What was held back until the format was known. */
  rest() {
    const reader = this.#reader
    const held = this.#held
    this.#held = []
    if (reader === undefined && held.length > 0) throw this.#unknown()
    return reader === undefined ? [] : held.flatMap((record) => reader.read(record))
  }

  #parse(line: string): unknown {
    try {
      return JSON.parse(line) as unknown
    } catch {
      this.damaged += 1
      return undefined
    }
  }

  #unknown(): UnknownFormatError {
    return new UnknownFormatError(`This is no recording of a known runtime. ${this.#known()}`)
  }

  #known(): string {
    return `Known formats: ${this.#readers.map(({ format }) => format).join(', ')}.`
  }
}

/** Counts how often one threshold would have been reached. */
class Threshold {
  readonly #at: number
  #times = 0
  #firstTurn: number | undefined
  #reachedIn = -1

  constructor(at: number) {
    this.#at = at
  }

  see({ ratio, cycle, turn }: WindowSample): void {
    if (ratio === undefined || ratio < this.#at || this.#reachedIn === cycle) return
    this.#reachedIn = cycle
    this.#times += 1
    this.#firstTurn ??= turn
  }

  result(): ThresholdReplay {
    return defined({ at: this.#at, times: this.#times, firstTurn: this.#firstTurn })
  }
}

/** The highest of each stretch; stretches are joined in pairs whenever there are too many. */
class Chart {
  static readonly #MOST = 120
  #columns: number[] = []
  #stretch = 1
  #seen = 0

  add(value: number): void {
    const index = Math.floor(this.#seen / this.#stretch)
    this.#columns[index] = Math.max(this.#columns[index] ?? 0, value)
    this.#seen += 1
    if (this.#columns.length <= Chart.#MOST) return
    this.#columns = Array.from({ length: Math.ceil(this.#columns.length / 2) }, (_, pair) =>
      Math.max(this.#columns[pair * 2] ?? 0, this.#columns[pair * 2 + 1] ?? 0),
    )
    this.#stretch *= 2
  }

  columns(): readonly number[] {
    return this.#columns
  }
}

/** Milestones from the fractions a person types. */
export const milestonesAt = (fractions: readonly number[]): readonly Milestone[] => {
  const names = ['warning', 'critical', 'restart']
  return fractions.map((at, index) => ({ name: names[index] ?? `milestone ${index + 1}`, at }))
}
