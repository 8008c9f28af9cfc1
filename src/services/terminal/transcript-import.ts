import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { RecentKeys } from '../../domain/kernel/recent-keys.ts'
import { originOn } from '../../domain/turn/channel.ts'
import type { TurnInput } from '../../domain/turn/turn.ts'
import type { MonitorReport } from '../../domain/window/monitor-reports.ts'
import type { WindowEvent } from '../../domain/window/window-event.ts'
import { WindowGauge } from '../../domain/window/window-gauge.ts'
import type { WindowReader } from '../../ports/agent/window-reader.ts'
import type { TranscriptTail, WindowVariables } from '../../ports/terminal/terminal-files.ts'
import { TurnCollector } from '../window/turn-collector.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** The next thing a transcript says, numbered from its beginning: always the same number for the same thing. */
export type TranscriptItem =
  | { readonly type: 'turn'; readonly number: number; readonly turn: TurnInput }
  | {
      readonly type: 'compaction'
      readonly number: number
      readonly report: Extract<MonitorReport, { type: 'compaction' }>
    }

/**
 * Reads a transcript as turns and compactions, from its beginning and then whatever it has grown by.
 *
 * Where a turn ends depends on the transcript alone, not on when it is read: read again from the beginning, it has the
 * same turns under the same numbers.
 */
export class TranscriptImport {
  readonly #tail: TranscriptTail
  readonly #reader: WindowReader
  readonly #gauge: WindowGauge
  readonly #collector: TurnCollector
  #turns = 0
  #compactions = 0
  readonly #calls = new RecentKeys()
  /** Whether the newest words are an answer that calls no tool. */
  #isAnswered = false
  /** When the request of the open turn was answered. */
  #answeredAt: Instant | undefined

  constructor(
    tail: TranscriptTail,
    reader: WindowReader,
    { sha256, redact, believedWindow }: Pick<TerminalDeps, 'sha256' | 'redact' | 'believedWindow'>,
    variables: WindowVariables = {},
  ) {
    this.#tail = tail
    this.#reader = reader
    this.#gauge = new WindowGauge({ runtime: reader.format, believed: believedWindow })
    this.#gauge.take(reader.known?.(variables) ?? [])
    this.#collector = new TurnCollector({ keep: (reading) => reading, sha256, redact })
  }

  /** The items that were not there before. At rest, the turn that is still open is over as well. */
  async *items({ isAtRest }: { readonly isAtRest: boolean }): AsyncGenerator<TranscriptItem, void> {
    for await (const record of this.#tail.records()) yield* this.#take(record)
    if (isAtRest) yield* this.#turnsOf(this.#collector.rest())
  }

  /** Whether the transcript has these tool calls already: its runtime writes it a moment after it has called them. */
  hasCalls(ids: readonly string[]): boolean {
    return ids.every((id) => this.#calls.has(id))
  }

  /** Whether the transcript ends with an answer: its runtime says that the agent has stopped, a moment before it writes why. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** How full the window is by the answer that is still open: its turn is not over, and its reading is. */
  sample(): Extract<MonitorReport, { type: 'sample' }> | undefined {
    const reading = this.#gauge.reading()
    if (reading.state === 'unknown') return undefined
    return defined({
      type: 'sample' as const,
      reading,
      window: this.#gauge.windowParts(),
      producedAt: this.#answeredAt,
    })
  }

  *#take(record: unknown): Generator<TranscriptItem, void> {
    const { events, reports, isNewTurn } = this.#gauge.take(this.#reader.read(record))
    for (const report of reports) {
      if (report.type !== 'compaction') continue
      yield* this.#turnsOf(this.#collector.rest())
      this.#compactions += 1
      yield { type: 'compaction', number: this.#compactions, report }
    }
    for (const event of events)
      if (event.type === 'tool_call' && event.callId !== undefined) this.#calls.add(event.callId)
    const texts = this.#reader.words?.(record).texts ?? []
    if (texts.length > 0) this.#isAnswered = texts.at(-1)?.role === 'assistant'
    if (events.some(({ type }) => type === 'tool_call')) this.#isAnswered = false
    const withOrigins = texts.map((text) =>
      text.role === 'user' ? { ...text, origin: originOn('transcript', text.origin) } : text,
    )
    const ended = this.#collector.take({ events, texts: withOrigins, isNewTurn, reading: this.#gauge.reading() })
    const answer = events.find((event) => event.type === 'request' || event.type === 'unmetered')
    const isOver = isLate(answer)
    const last = isOver ? ended.slice(-1) : []
    yield* this.#turnsOf(isOver ? ended.slice(0, -1) : ended)
    this.#answeredAt = answer?.at ?? this.#answeredAt
    yield* this.#turnsOf(last)
  }

  *#turnsOf(turns: readonly TurnInput[]): Generator<TranscriptItem, void> {
    for (const turn of turns) {
      this.#turns += 1
      const window = this.#gauge.windowParts()
      const at = { window: Object.keys(window).length > 0 ? window : undefined, producedAt: this.#answeredAt }
      yield { type: 'turn', number: this.#turns, turn: defined({ ...turn, ...at }) }
    }
  }
}

/** A request that is reported after its answer ends its own turn at once. */
const isLate = (answer: WindowEvent | undefined): boolean => answer?.type === 'request' && answer.isLate === true
