import { defined } from '../kernel/defined.ts'
import type { WindowParts, WindowSize } from './context-pressure.ts'
import type { WindowEvent } from './window-event.ts'
import type { WindowGaugeOptions } from './window-history.ts'

/** The size of the window according to the runtime. Auxiliary models have windows too, which do not count. */
export class ReportedWindow {
  tokens: number | undefined
  /** The model the session was begun with, suffix included. */
  initModel: string | undefined
  #autoCompactAt: number | undefined
  /** How far before the end of its window it compacts, where it does not say at which point. */
  #autoCompactReserve: { readonly tokens: number; readonly share?: number } | undefined
  #isExact = false
  #asked: { readonly model: string; readonly answer: WindowSize | undefined } | undefined

  /** Takes the size if it is of the main model: the one the session began with, else the one that answered last. */
  take({ tokens, models }: Extract<WindowEvent, { type: 'window' }>, answering: string | undefined): void {
    const isExact = models === undefined || models.some((model) => model === this.initModel)
    if (!isExact && (this.#isExact || !models.some((model) => isSame(model, answering)))) return
    this.tokens = tokens
    this.#isExact = isExact
  }

  /** Takes where the runtime compacts by itself, or how far before the end of its window. */
  note(event: Extract<WindowEvent, { type: 'auto_compact_at' | 'auto_compact_reserve' }>): void {
    if (event.type === 'auto_compact_at') this.#autoCompactAt = event.tokens
    else this.#autoCompactReserve = event
  }

  /** The window of the main model: as reported, else as believed. Asked once per model, for a catalogue takes its time. */
  #hardLimit(believed: WindowGaugeOptions['believed'], answering: string | undefined): WindowSize | undefined {
    if (this.tokens !== undefined) return { tokens: this.tokens, source: 'runtime' }
    const model = this.initModel ?? answering
    if (model === undefined || believed === undefined) return undefined
    if (this.#asked?.model !== model) this.#asked = { model, answer: believed(model) }
    return this.#asked.answer
  }

  /** The window's size: as reported, else as believed. */
  parts(believed: WindowGaugeOptions['believed'], answering: string | undefined): WindowParts {
    const hardLimit = this.#hardLimit(believed, answering)
    const { tokens: reserve = Number.POSITIVE_INFINITY, share = 1 } = this.#autoCompactReserve ?? {}
    const room = Math.floor(((hardLimit?.tokens ?? 0) - reserve) * share)
    const points = [this.#autoCompactAt ?? 0, room].filter((point) => point > 0)
    const autoCompactAt = points.length === 0 ? undefined : Math.min(...points)
    return defined({ hardLimit, autoCompactAt })
  }

  begin(model: string): void {
    if (model !== this.initModel) this.#isExact = false
    this.initModel = model
  }
}

const isSame = (model: string, other: string | undefined): boolean =>
  other !== undefined && withoutSuffix(model) === withoutSuffix(other)

const withoutSuffix = (model: string): string => model.replace(/\[\d+[mk]\]$/i, '')
