import { raiseBelieved, usableWindow, type WindowSize } from './context-pressure.ts'
import { defined } from './defined.ts'
import type { Instant } from './instant.ts'
import { type Milestone, reach } from './milestone.ts'
import type { CompactionTrigger, WindowEvent } from './window-event.ts'

/** A compaction, with what the window held on either side of it, in prompt tokens. */
export interface CompactionSeen {
  readonly trigger: CompactionTrigger
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
  readonly lastContext: number
  readonly window?: WindowSize
  readonly compactions: readonly CompactionSeen[]
  readonly subagentTurns: number
  readonly toolCalls: number
  readonly signals: readonly SignalSeen[]
  readonly model?: string
  readonly unmetered: number
}

interface Reading {
  readonly key: string
  readonly promptTokens: number
  readonly outputTokens: number
  readonly model?: string
}

/** Characters that make about one token, for text no usage counts yet. */
const CHARACTERS_PER_TOKEN = 4

/** What decides how full is full. */
export interface WindowTrackerOptions {
  readonly milestones: readonly Milestone[]
  /** A window that is known from elsewhere; what the runtime reports comes before it, a configured limit before that. */
  readonly believed?: (model: string) => WindowSize | undefined
  readonly limit?: number
  /** Told of every reading, for whoever wants more than the summary. */
  readonly onSample?: (sample: WindowSample) => void
}

/** How full the window was at a turn. */
export interface WindowSample {
  readonly turn: number
  /** Compactions so far. */
  readonly cycle: number
  readonly context: number
  /** Absent while the window is unknown. */
  readonly ratio?: number
}

/** Follows one window through what its runtime says. Subagents, repetitions and sums never change its reading. */
export class WindowTracker {
  readonly #options: WindowTrackerOptions
  readonly #requests = new Set<string>()
  readonly #subagents = new Set<string>()
  readonly #tools = new Set<string>()
  readonly #compactions: CompactionSeen[] = []
  readonly #signals: SignalSeen[] = []
  #reading: Reading | undefined
  #last: Reading | undefined
  #peak = 0
  #pendingCharacters = 0
  #latchedAt = 0
  #isCompacting = false
  #sinceCompaction = 1
  #unmetered = 0
  #initModel: string | undefined
  #reported: number | undefined

  constructor(options: WindowTrackerOptions) {
    this.#options = options
  }

  /** Takes the next thing the runtime said. */
  take(event: WindowEvent): void {
    switch (event.type) {
      case 'request':
        this.#request(event)
        break
      case 'estimate':
        this.#reading = { key: '', promptTokens: event.tokens, outputTokens: 0 }
        break
      case 'tool_call':
        this.#tools.add(event.callId ?? `unnamed ${this.#tools.size}`)
        break
      case 'appended':
        this.#pendingCharacters += event.characters
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
      case 'window':
        if (event.models === undefined || event.models.some((model) => this.#isMain(model)))
          this.#reported = event.tokens
        break
      case 'model':
        this.#initModel = event.model
        break
      case 'subagent_request':
        this.#subagents.add(event.key)
        break
      case 'unmetered':
        this.#unmetered += 1
        break
      default:
        event satisfies never
    }
  }

  /** What the window went through so far. */
  history(): WindowHistory {
    return defined({
      turns: this.#requests.size,
      peakContext: this.#peak,
      lastContext: this.#last?.promptTokens ?? 0,
      window: this.#window(),
      compactions: [...this.#compactions],
      subagentTurns: this.#subagents.size,
      toolCalls: this.#tools.size,
      signals: [...this.#signals],
      model: this.#last?.model ?? this.#initModel,
      unmetered: this.#unmetered,
    })
  }

  #request(event: Extract<WindowEvent, { type: 'request' }>): void {
    const { key, promptTokens, model } = event
    const isCurrent = this.#reading?.key === key
    // An old request that is reported again says nothing about now.
    if (!isCurrent && this.#requests.has(key)) return
    const outputTokens = isCurrent ? Math.max(event.outputTokens, this.#reading?.outputTokens ?? 0) : event.outputTokens
    if (!isCurrent) this.#pendingCharacters = 0
    this.#requests.add(key)
    this.#reading = defined({ key, promptTokens, outputTokens, model })
    this.#last = this.#reading
    this.#peak = Math.max(this.#peak, promptTokens)
    this.#isCompacting = false
    this.#sinceCompaction += isCurrent ? 0 : 1
    this.#completeCompaction(promptTokens)
    this.#signal(event.at)
  }

  #compaction({ trigger, preTokens }: Extract<WindowEvent, { type: 'compaction' }>): void {
    // Reported again before the next request, it is still the same one.
    if (this.#sinceCompaction === 0) return
    this.#compactions.push(defined({ trigger, preTokens, contextBefore: this.#last?.promptTokens }))
    this.#sinceCompaction = 0
    this.#beginCycle()
  }

  #beginCycle(): void {
    this.#reading = undefined
    this.#pendingCharacters = 0
    this.#latchedAt = 0
    this.#isCompacting = false
  }

  #completeCompaction(promptTokens: number): void {
    const newest = this.#compactions.at(-1)
    if (this.#sinceCompaction !== 1 || newest === undefined || newest.contextAfter !== undefined) return
    this.#compactions[this.#compactions.length - 1] = { ...newest, contextAfter: promptTokens }
  }

  #signal(time: Instant | undefined): void {
    if (this.#reading === undefined) return
    const { promptTokens: context, outputTokens } = this.#reading
    const window = this.#window()
    const used = context + outputTokens + Math.ceil(this.#pendingCharacters / CHARACTERS_PER_TOKEN)
    const ratio = window === undefined ? undefined : used / window.tokens
    const turn = this.#requests.size
    this.#options.onSample?.(defined({ turn, cycle: this.#compactions.length, context, ratio }))
    if (ratio === undefined || this.#isCompacting) return
    const { signal, latchedAt } = reach(this.#options.milestones, ratio, this.#latchedAt)
    this.#latchedAt = latchedAt
    if (signal === undefined) return
    this.#signals.push(defined({ milestone: signal.name, at: signal.at, turn, pressure: ratio, context, time }))
  }

  #window(): WindowSize | undefined {
    const { limit, believed } = this.#options
    const model = this.#initModel ?? this.#last?.model
    const guess = model === undefined ? undefined : believed?.(model)
    const hardLimit: WindowSize | undefined =
      this.#reported === undefined ? guess : { tokens: this.#reported, source: 'runtime' }
    return usableWindow(raiseBelieved(defined({ hardLimit, configuredLimit: limit }), this.#peak))
  }

  /** Auxiliary models have windows too. */
  #isMain(model: string): boolean {
    if (model === this.#initModel) return true
    return this.#last?.model !== undefined && withoutSuffix(model) === withoutSuffix(this.#last.model)
  }
}

const withoutSuffix = (model: string): string => model.replace(/\[\d+[mk]\]$/i, '')
