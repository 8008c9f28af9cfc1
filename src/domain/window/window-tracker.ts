import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { RecentKeys } from '../kernel/recent-keys.ts'
import { CompactionLog } from './compaction-log.ts'
import { raiseBelieved, usableWindow, type WindowParts, type WindowSize } from './context-pressure.ts'
import { type CurrentReading, outputOf, usageOf, withCount, withText } from './current-reading.ts'
import { reach } from './milestone.ts'
import { PendingText } from './pending-text.ts'
import { ReportedWindow } from './reported-window.ts'
import type { UsageReading } from './usage-reading.ts'
import type { WindowEvent } from './window-event.ts'
import type { SignalSeen, WindowHistory, WindowTrackerOptions } from './window-history.ts'

type Of<Type extends WindowEvent['type']> = Extract<WindowEvent, { type: Type }>

/**
 * Follows one window through what its runtime says. Subagents, repetitions and sums never change its reading.
 *
 * Its memory does not grow with what it is told: keys are remembered for the last ten thousand requests at least.
 *
 * @example
 * ```ts
 * const tracker = new WindowTracker({ milestones: [{ name: 'warning', at: 0.5 }] })
 * tracker.take({ type: 'window', tokens: 200_000 })
 * tracker.take({ type: 'request', key: 'msg_1', promptTokens: 99_000, outputTokens: 1_000 })
 * console.log(tracker.history().signals[0]?.milestone) // => warning
 * ```
 */
export class WindowTracker {
  readonly #options: WindowTrackerOptions
  readonly #requests = new RecentKeys()
  readonly #subagents = new RecentKeys()
  readonly #tools = new RecentKeys()
  readonly #records = new RecentKeys()
  readonly #reported = new ReportedWindow()
  readonly #pending = new PendingText()
  readonly #compactions = new CompactionLog()
  readonly #signals: SignalSeen[] = []
  readonly #counts = { turns: 0, subagentTurns: 0, toolCalls: 0, unmetered: 0 }
  #thread: string | undefined
  #isSubagent = false
  /** Whether requests are reported as such, so that the usage of responses says nothing new. */
  #hasRequests = false
  #reading: CurrentReading | undefined
  #last: CurrentReading | undefined
  #peak = 0
  #cycle = 0
  #latchedAt = 0
  #isCompacting = false

  constructor(options: WindowTrackerOptions) {
    this.#options = options
  }

  /** Takes the next thing the runtime said. */
  take(event: WindowEvent): void {
    if (this.#isOfSubagent(event)) {
      if (event.type === 'request' || event.type === 'response_usage') this.#subagent(event.key)
    } else if (event.type === 'request') {
      this.#hasRequests = true
      this.#request(event)
    } else if (event.type === 'response_usage') {
      if (!this.#hasRequests) this.#request({ ...event, type: 'request', isComplete: true })
    } else if (event.key === undefined || this.#records.add(`${event.type} ${event.key}`)) this.#takeOnce(event)
  }

  /** How many requests the main thread has made so far. */
  get turns(): number {
    return this.#counts.turns
  }

  /** What the last request of the main thread said, and what came since. Unknown until there is one. */
  reading(): UsageReading {
    return usageOf(this.#reading, this.#pending.tokens, this.#options.runtime)
  }

  /** What is known of the window's size, for whoever records the reading. */
  windowParts(): WindowParts {
    // What a compaction showed is told by the report of it, and kept by the monitor.
    const { compactedAt: _, ...parts } = this.#parts()
    return parts
  }

  /** What the window went through so far. */
  history(): WindowHistory {
    return defined({
      ...this.#counts,
      peakContext: this.#peak,
      lastContext: this.#last?.promptTokens,
      window: this.#window(),
      compactions: this.#compactions.list(),
      signals: [...this.#signals],
      model: this.#last?.model ?? this.#reported.initModel,
    })
  }

  #takeOnce(event: Exclude<WindowEvent, { type: 'request' | 'response_usage' }>): void {
    switch (event.type) {
      case 'answered':
        this.#read(withCount(this.#reading, event), event.at)
        break
      case 'answer_text':
        this.#read(withText(this.#reading, event), event.at)
        break
      case 'percentage':
        this.#reading = { promptTokens: 0, outputTokens: 0, usedPercent: event.usedPercent }
        break
      case 'estimate':
        // Repeated after a request, it would take the place of what is known.
        if (this.#reading?.key === undefined) this.#reading = { promptTokens: event.tokens, outputTokens: 0 }
        break
      case 'tool_call':
        if (event.callId === undefined || this.#tools.add(event.callId)) this.#counts.toolCalls += 1
        break
      case 'appended':
        this.#pending.append(event.characters)
        this.#signal(event.at)
        break
      case 'compacting':
        this.#isCompacting = true
        break
      case 'compaction':
        this.#compaction(event)
        break
      case 'cleared':
        this.#beginCycle()
        break
      case 'unknown':
        this.#forgetReading()
        break
      case 'window':
        this.#reported.take(event, this.#last?.model)
        break
      case 'auto_compact_at':
        this.#reported.autoCompactAt = event.tokens
        break
      case 'auto_compact_reserve':
        this.#reported.autoCompactReserve = event.tokens
        break
      case 'model':
        this.#reported.begin(event.model)
        break
      case 'thread':
        // The first thread named is ours: a forked one repeats its parent's history, names included.
        this.#isSubagent = event.parent !== undefined
        break
      case 'subagent_request':
        this.#subagent(event.key)
        break
      case 'unmetered':
        this.#counts.unmetered += 1
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

  #request({ key, promptTokens, outputTokens, model, isLate, isComplete, at }: Of<'request'>): void {
    const current = this.#reading?.key === key ? this.#reading : undefined
    // An old request that is reported again says nothing about now.
    if (current === undefined && this.#requests.has(key)) return
    if (current === undefined) {
      this.#requests.add(key)
      this.#counts.turns += 1
      this.#compactions.request()
      this.#pending.request(isLate === true)
    } else if (isLate === true) this.#pending.reportedAgain()
    this.#read(
      defined({
        key,
        promptTokens: current?.isFinal === true ? current.promptTokens : promptTokens,
        outputTokens: Math.max(outputTokens, current?.outputTokens ?? 0),
        model,
        answerCharacters: current?.answerCharacters,
        isFinal: current?.isFinal ?? isComplete,
        isLate,
      }),
      at,
    )
  }

  #read(reading: CurrentReading | undefined, at: Instant | undefined): void {
    if (reading === undefined) return
    this.#reading = reading
    this.#last = reading
    this.#peak = Math.max(this.#peak, reading.promptTokens)
    this.#isCompacting = false
    this.#compactions.complete(reading.promptTokens)
    this.#signal(at)
  }

  #compaction(event: Of<'compaction'>): void {
    if (this.#compactions.isRepetition) return
    const { trigger, preTokens } = event
    this.#reported.compacted(event, raiseBelieved(this.#parts(), this.#peak))
    this.#compactions.add(defined({ trigger, preTokens, contextBefore: this.#last?.promptTokens }))
    this.#beginCycle()
  }

  #beginCycle(): void {
    this.#cycle += 1
    this.#latchedAt = 0
    this.#forgetReading()
  }

  #forgetReading(): void {
    this.#reading = undefined
    this.#pending.clear()
    this.#isCompacting = false
  }

  #signal(time: Instant | undefined): void {
    if (this.#reading?.key === undefined) return
    const { promptTokens: context } = this.#reading
    const window = this.#window()
    const used = context + outputOf(this.#reading) + this.#pending.tokens
    const ratio = window === undefined ? undefined : used / window.tokens
    const { turns: turn } = this.#counts
    this.#options.onSample?.(defined({ turn, cycle: this.#cycle, context, ratio }))
    if (ratio === undefined || this.#isCompacting) return
    const { signal, latchedAt } = reach(this.#options.milestones, ratio, this.#latchedAt)
    this.#latchedAt = latchedAt
    if (signal === undefined) return
    this.#signals.push(defined({ milestone: signal.name, at: signal.at, turn, pressure: ratio, context, time }))
  }

  #window(): WindowSize | undefined {
    return usableWindow(raiseBelieved(this.#parts(), this.#peak))
  }

  #parts(): WindowParts {
    return this.#reported.parts(this.#options, this.#last?.model)
  }
}
