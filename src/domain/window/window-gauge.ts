import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { RecentKeys } from '../kernel/recent-keys.ts'
import type { WindowParts } from './context-pressure.ts'
import { type CurrentReading, usageOf, withCount, withText } from './current-reading.ts'
import type { MonitorReport } from './monitor-reports.ts'
import { PendingText } from './pending-text.ts'
import { ReportedWindow } from './reported-window.ts'
import type { UsageReading } from './usage-reading.ts'
import type { WindowEvent } from './window-event.ts'
import type { CompactionSeen, Gauged, WindowGaugeOptions, WindowHistory } from './window-history.ts'

type Of<Type extends WindowEvent['type']> = Extract<WindowEvent, { type: Type }>
/** Events about the size of the window. */
type SizeEvent = 'window' | 'auto_compact_at' | 'auto_compact_reserve'

/**
 * Reads one window from what its runtime says. Subagents, repetitions and sums never change the reading.
 *
 * It knows no milestones. Its reports go to a monitor, which does: `context.report` of a session, or the one of a replay.
 * Its memory does not grow with what it is told: keys are remembered for the last ten thousand requests at least.
 *
 * @example
 * ```ts
 * const gauge = new WindowGauge()
 * gauge.take([{ type: 'request', key: 'msg_1', promptTokens: 99_000, outputTokens: 1_000 }])
 * const { reports } = gauge.take([{ type: 'compaction', trigger: 'auto', preTokens: 155_031, key: 'uuid-1' }])
 * console.log(reports[0]?.type, gauge.reading().state) // => compaction unknown
 * ```
 */
export class WindowGauge {
  readonly #options: WindowGaugeOptions
  readonly #requests = new RecentKeys()
  readonly #subagents = new RecentKeys()
  readonly #tools = new RecentKeys()
  readonly #records = new RecentKeys()
  readonly #reported = new ReportedWindow()
  readonly #pending = new PendingText()
  readonly #compactions = new CompactionLog()
  readonly #counts = { turns: 0, subagentTurns: 0, toolCalls: 0, unmetered: 0 }
  #thread: string | undefined
  #isSubagent = false
  /** Whether requests are reported as such, so that the usage of responses says nothing new. */
  #hasRequests = false
  #reading: CurrentReading | undefined
  #last: CurrentReading | undefined
  #peak = 0
  #isCompacting = false

  constructor(options: WindowGaugeOptions = {}) {
    this.#options = options
  }

  /** Takes the next events of the runtime, in order. Answers with what they mean for the session's own thread. */
  take(events: readonly WindowEvent[]): Gauged {
    const { turns } = this.#counts
    const own: WindowEvent[] = []
    const reports: MonitorReport[] = []
    for (const event of events) {
      if (this.#isOfSubagent(event)) {
        if (event.type === 'request' || event.type === 'response_usage') this.#subagent(event.key)
        continue
      }
      own.push(event)
      const report = this.#take(event)
      if (report !== undefined) reports.push(report)
    }
    return { events: own, reports, isNewTurn: this.#counts.turns > turns }
  }

  /** How many requests the main thread has made so far. */
  get turns(): number {
    return this.#counts.turns
  }

  /** The last reading of the main thread, with the text since then. Unknown until there is one. */
  reading(): UsageReading {
    return usageOf(this.#reading, this.#pending.tokens, this.#options.runtime)
  }

  /** The known parts of the window's size, for the record of the reading. */
  windowParts(): WindowParts {
    return this.#reported.parts(this.#options.believed, this.#last?.model)
  }

  /** The history of the window so far. */
  history(): WindowHistory {
    return defined({
      ...this.#counts,
      peakContext: this.#peak,
      lastContext: this.#last?.promptTokens,
      compactions: this.#compactions.list(),
      model: this.#last?.model ?? this.#reported.initModel,
    })
  }

  #take(event: WindowEvent): MonitorReport | undefined {
    if (event.type === 'request') {
      this.#hasRequests = true
      return this.#request(event)
    }
    if (event.type === 'response_usage')
      return this.#hasRequests ? undefined : this.#request({ ...event, type: 'request', isComplete: true })
    const isNew = event.key === undefined || this.#records.add(`${event.type} ${event.key}`)
    return isNew ? this.#takeOnce(event) : undefined
  }

  #takeOnce(event: Exclude<WindowEvent, { type: 'request' | 'response_usage' }>): MonitorReport | undefined {
    switch (event.type) {
      case 'answered':
        return this.#read(withCount(this.#reading, event), event.at)
      case 'answer_text':
        return this.#read(withText(this.#reading, event), event.at)
      case 'percentage':
        this.#reading = { promptTokens: 0, outputTokens: 0, usedPercent: event.usedPercent }
        this.#isCompacting = false
        this.#compactions.percentage()
        return this.#sample(event.at)
      case 'estimate':
        // Repeated after a request, it would take the place of what is known.
        if (this.#reading?.key === undefined) this.#reading = { promptTokens: event.tokens, outputTokens: 0 }
        return undefined
      case 'appended':
        this.#pending.append(event.characters)
        // While the runtime compacts, nobody knows what will be left of the text. Without a request, nothing was read.
        return this.#isCompacting || this.#reading?.key === undefined ? undefined : this.#sample(event.at)
      case 'compacting':
        this.#isCompacting = true
        return defined({ type: event.type, producedAt: event.at })
      case 'compaction':
        return this.#compaction(event)
      case 'cleared':
        this.#forgetReading()
        return defined({ type: event.type, producedAt: event.at })
      case 'unknown':
        this.#forgetReading()
        return this.#sample(event.at)
      default:
        this.#note(event)
        return undefined
    }
  }

  /** Takes what is said beside the readings: of the window's size, of the model, of threads, and what is only counted. */
  #note(event: Of<'tool_call' | 'unmetered' | 'subagent_request' | 'thread' | 'model' | SizeEvent>): void {
    switch (event.type) {
      case 'tool_call':
        if (event.callId === undefined || this.#tools.add(event.callId)) this.#counts.toolCalls += 1
        break
      case 'unmetered':
        this.#counts.unmetered += 1
        break
      case 'subagent_request':
        this.#subagent(event.key)
        break
      case 'thread':
        // The first thread named is ours: a forked one repeats its parent's history, names included.
        this.#isSubagent = event.parent !== undefined
        break
      case 'model':
        this.#reported.begin(event.model)
        break
      case 'window':
        this.#reported.take(event, this.#last?.model)
        break
      case 'auto_compact_at':
      case 'auto_compact_reserve':
        this.#reported.note(event)
        break
      default:
        event satisfies never
    }
  }

  #isOfSubagent({ type, thread }: WindowEvent): boolean {
    const isFirst = this.#thread === undefined && thread !== undefined
    this.#thread ??= thread
    if (type === 'thread' && isFirst) return false
    return this.#isSubagent || (thread !== undefined && thread !== this.#thread)
  }

  #subagent(key: string): void {
    if (this.#subagents.add(key)) this.#counts.subagentTurns += 1
  }

  #request(event: Of<'request'>): MonitorReport | undefined {
    const { key, promptTokens, outputTokens, model, isLate, isComplete, at } = event
    const current = this.#reading?.key === key ? this.#reading : undefined
    // An old request that is reported again says nothing about now.
    if (current === undefined && this.#requests.has(key)) return undefined
    if (current === undefined) {
      this.#requests.add(key)
      this.#counts.turns += 1
      this.#compactions.request()
      this.#pending.request(isLate === true)
    } else if (isLate === true) this.#pending.reportedAgain()
    const reading: CurrentReading = defined({
      key,
      promptTokens: current?.isFinal === true ? current.promptTokens : promptTokens,
      outputTokens: Math.max(outputTokens, current?.outputTokens ?? 0),
      model,
      answerCharacters: current?.answerCharacters,
      isFinal: current?.isFinal ?? isComplete,
      isLate,
    })
    return this.#read(reading, at)
  }

  #read(reading: CurrentReading | undefined, at: Instant | undefined): MonitorReport | undefined {
    if (reading === undefined) return undefined
    this.#reading = reading
    this.#last = reading
    this.#peak = Math.max(this.#peak, reading.promptTokens)
    this.#isCompacting = false
    this.#compactions.complete(reading.promptTokens)
    return this.#sample(at)
  }

  #sample(producedAt: Instant | undefined): MonitorReport {
    return defined({ type: 'sample' as const, reading: this.reading(), window: this.windowParts(), producedAt })
  }

  #compaction({ trigger, preTokens, key, at: producedAt }: Of<'compaction'>): MonitorReport | undefined {
    if (this.#compactions.isRepetition) return undefined
    this.#compactions.add(defined({ trigger, preTokens, contextBefore: this.#last?.promptTokens }))
    this.#forgetReading()
    return defined({ type: 'compaction' as const, trigger, preTokens, key, producedAt })
  }

  #forgetReading(): void {
    this.#reading = undefined
    this.#pending.clear()
    this.#isCompacting = false
  }
}

/** The compactions of a window, each once, with what the window held on either side. */
class CompactionLog {
  readonly #seen: CompactionSeen[] = []
  #requestsSince = 1
  #hasReadSince = true

  /** Reported again before anything was read, it is still the same one. */
  get isRepetition(): boolean {
    return !this.#hasReadSince
  }

  add(seen: CompactionSeen): void {
    this.#seen.push(seen)
    this.#requestsSince = 0
    this.#hasReadSince = false
  }

  request(): void {
    this.#requestsSince += 1
    this.#hasReadSince = true
  }

  /** Takes a reading that counts no tokens: it says nothing of what was left. */
  percentage(): void {
    this.#hasReadSince = true
  }

  /** Completes the newest one, once the first request after it says what was left. */
  complete(contextAfter: number): void {
    const newest = this.#seen.at(-1)
    if (this.#requestsSince === 1 && newest !== undefined) this.#seen.splice(-1, 1, { ...newest, contextAfter })
  }

  list(): readonly CompactionSeen[] {
    return [...this.#seen]
  }
}
