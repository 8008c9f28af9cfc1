import { z } from 'zod'
import type { WindowEvent } from '../../domain/window/window-event.ts'

const item = z.looseObject({ type: z.literal('response_item'), payload: z.looseObject({ type: z.string() }) })

/**
 * Holds the reading of an answer back while that may be the last of its turn. Codex writes it down a moment before
 * it says that the turn is over, and a caller that acted on it at once would interrupt work that is done.
 *
 * An answer that used a tool is followed by another request, so its reading passes at once.
 */
export class AnswerGate<Step extends { readonly events: readonly WindowEvent[] }> {
  readonly #held: Step[] = []
  #hasUsedTool = false

  /** The steps that may be told, in order, now that this record was written with these. */
  pass(record: unknown, steps: readonly Step[]): readonly Step[] {
    const { data: said } = item.safeParse(record)
    // Something else was said: what is held was not the last.
    const released = said === undefined ? [] : this.open()
    if (said?.payload.type.endsWith('_output') === true) this.#hasUsedTool = true
    const isReading = steps.some(({ events }) =>
      events.some(({ type }) => type === 'request' || type === 'response_usage'),
    )
    const isHeld = this.#held.length > 0 || (isReading && !this.#hasUsedTool)
    if (isReading) this.#hasUsedTool = false
    if (!isHeld) return [...released, ...steps]
    this.#held.push(...steps)
    return released
  }

  /** Whatever is held, now that the turn is over. */
  open(): readonly Step[] {
    return this.#held.splice(0)
  }
}
