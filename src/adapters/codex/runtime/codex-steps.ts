import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import { execReader } from '../readers/exec-reader.ts'
import { execTexts } from '../readers/exec-words.ts'
import { rolloutReader } from '../readers/rollout-reader.ts'
import { type CodexUsage, threadTotalsIn, totalsSince } from '../readers/rollout-totals.ts'
import { CodexPermissions } from './codex-permissions.ts'
import type { CodexEvent } from './codex-sdk.ts'
import type { RolloutFollower } from './rollout-follower.ts'

type Said = Pick<RuntimeStep<never>, 'events' | 'texts'>

const NOTHING: Said = { events: [], texts: [] }

/**
 * Turns what Codex says and what it writes down into steps.
 *
 * Both tell of the same texts and tool calls. The rollout is taken, for it also has the readings; what the events tell
 * is held back until it is sure that there is no rollout.
 */
export class CodexSteps<Event extends CodexEvent> {
  readonly #follower: RolloutFollower
  readonly #prompt: string
  readonly #gate = new AnswerGate<RuntimeStep<Event>>()
  readonly #permissions = new CodexPermissions()
  #held: Said[] = []

  constructor(follower: RolloutFollower, prompt: string) {
    this.#follower = follower
    this.#prompt = prompt
  }

  /** The steps of one event: what was written down before it, and the event itself. */
  async *of(event: Event): AsyncGenerator<RuntimeStep<Event>> {
    if (event.type === 'thread.started') {
      this.#follower.follow(event.thread_id)
      // No event says what the thread was asked.
      this.#hold({ events: [], texts: [{ role: 'user', text: this.#prompt }] })
      const step = { message: event, providerSessionId: event.thread_id, texts: [] }
      return yield { ...step, events: execReader.read(event) }
    }
    yield* this.written()
    if (event.type === 'turn.completed' || event.type === 'turn.failed') yield* this.#gate.open()
    this.#hold({ events: execReader.read(event), texts: execTexts(event) })
    const totals = event.type === 'turn.completed' ? this.#totalsOf(event.usage) : undefined
    yield defined({ message: event, ...NOTHING, totals, ...this.#permissions.ofEvent(event) }) as RuntimeStep<Event>
  }

  /** The last of what was written down; or, without a rollout, what the events told. */
  async *rest(patienceMs: number): AsyncGenerator<RuntimeStep<Event>> {
    await this.#follower.waitUntilFound(patienceMs)
    yield* this.written()
    yield* this.#gate.open()
    yield* this.#held.splice(0).filter(({ events, texts }) => events.length + texts.length > 0)
  }

  /** The lines written since the last call, without a reading that may be the last of its turn. */
  async *written(): AsyncGenerator<RuntimeStep<Event>> {
    for await (const record of this.#follower.gained()) yield* this.#gate.pass(record, this.#stepsOf(record))
    if (this.#follower.isFound) this.#held = []
  }

  #stepsOf(record: unknown): readonly RuntimeStep<Event>[] {
    const events = rolloutReader.read(record)
    const { texts } = rolloutReader.words?.(record) ?? NOTHING
    const used = threadTotalsIn(record)
    const totals = used && this.#totalsOf(used)
    const noted = this.#permissions.ofRecord(record)
    const isTelling = events.length + texts.length > 0 || totals !== undefined || noted.refused !== undefined
    return isTelling ? [defined({ events, texts, totals, ...noted })] : []
  }

  #hold(message: Said): void {
    if (!this.#follower.isFound) this.#held.push(message)
  }

  /** Absent when it is not known what the thread had used before: its sum would be no sum of this launch. */
  #totalsOf(used: CodexUsage): UsageTotals | undefined {
    const before = this.#follower.usedBefore
    return before && totalsSince(before, used)
  }
}

const responseItem = z.looseObject({ type: z.literal('response_item'), payload: z.looseObject({ type: z.string() }) })

/**
 * Holds the reading of an answer back while that may be the last of its turn. Codex writes it down a moment before
 * it says that the turn is over, and a caller that acted on it at once would interrupt work that is done.
 *
 * An answer that used a tool is followed by another request, so its reading passes at once.
 */
class AnswerGate<Step extends { readonly events: readonly WindowEvent[] }> {
  readonly #held: Step[] = []
  #hasUsedTool = false

  /** The steps that may be told, in order, now that this record was written with these. */
  pass(record: unknown, steps: readonly Step[]): readonly Step[] {
    const { data: said } = responseItem.safeParse(record)
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
