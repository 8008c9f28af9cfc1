import type { MessageInput, ToolCallInput, TurnInput } from '../domain/turn.ts'
import type { UsageReading } from '../domain/usage-reading.ts'
import type { WindowEvent } from '../domain/window-event.ts'
import type { WindowTracker } from '../domain/window-tracker.ts'
import type { RecordedText } from '../ports/window-reader.ts'

/** What a turn may hold: far more than a window, and a bound for a recording in which no turn ever ends. */
const MOST_MESSAGES = 2_000
const LONGEST_TEXT = 1_000_000

/** Events after which a turn's reading is read again. */
const ABOUT_A_READING: readonly WindowEvent['type'][] = [
  ...(['request', 'response_usage', 'answered', 'answer_text', 'appended', 'percentage'] as const),
]

/** What a runtime said, once the tracker has taken it. */
export interface Said {
  readonly events: readonly WindowEvent[]
  readonly texts: readonly RecordedText[]
  /** Whether it began a turn of the main thread. */
  readonly isNewTurn: boolean
  readonly tracker: WindowTracker
}

/** Puts what a runtime said together to turns: what was asked, what was answered, and what the request said. */
export class TurnCollector {
  /** Which part of the tracker's reading a turn keeps, of what was said up to its end. */
  readonly #keep: (reading: UsageReading) => UsageReading
  readonly #turns: TurnInput[] = []
  #messages: MessageInput[] = []
  #usage: UsageReading | undefined
  #unnamed = 0
  /** What the session was asked first. */
  firstText: string | undefined
  /** The model that answered first. */
  model: string | undefined

  constructor(keep: (reading: UsageReading) => UsageReading) {
    this.#keep = keep
  }

  /** Takes what was said and answers with the turns that it brought to an end. */
  take({ events, texts, isNewTurn, tracker }: Said): readonly TurnInput[] {
    const request = events.find((event) => event.type === 'request')
    if (isNewTurn) this.#begin(request)
    this.#read(tracker.reading(), events)
    for (const { role, text } of texts) this.#say({ role, text: cut(text) })
    for (const event of events) if (event.type === 'tool_call') this.#call(event)
    // Everything that belongs to a request reported late has been said before it.
    if (isNewTurn && request?.isLate === true) this.#end()
    return this.#turns.splice(0)
  }

  /** The turn that was still open when the recording ended. */
  rest(): readonly TurnInput[] {
    if (this.#usage !== undefined) this.#end()
    return this.#turns.splice(0)
  }

  /** The turn that was still open when the agent came to rest, also when nothing says what its request used. */
  last(): readonly TurnInput[] {
    if (this.#messages.some(({ role }) => role === 'assistant')) this.#usage ??= { state: 'unknown' }
    return this.rest()
  }

  /** A compaction wipes the reading out; the turn before it keeps what its request said. */
  #read(reading: UsageReading, events: readonly WindowEvent[]): void {
    const isAboutIt = events.some(({ type }) => ABOUT_A_READING.includes(type))
    if (this.#usage !== undefined && isAboutIt && reading.state !== 'unknown') this.#usage = this.#keep(reading)
  }

  #begin(request: Extract<WindowEvent, { type: 'request' }> | undefined): void {
    if (this.#usage !== undefined) this.#end()
    this.#usage = { state: 'unknown' }
    this.model ??= request?.model
  }

  #say(said: RecordedText): void {
    if (said.role === 'user') this.firstText ??= said.text
    // Whatever is said to the agent after its answer is the beginning of the next turn.
    if (said.role !== 'assistant' && this.#usage !== undefined) this.#end()
    if (this.#messages.length < MOST_MESSAGES) this.#messages.push(said)
  }

  #call({ callId, toolName }: Extract<WindowEvent, { type: 'tool_call' }>): void {
    this.#unnamed += callId === undefined ? 1 : 0
    const call: ToolCallInput = { callId: callId ?? `unnamed-${this.#unnamed}`, toolName }
    const last = this.#messages.at(-1)
    const message = last?.role === 'assistant' ? last : { role: 'assistant' as const, text: '' }
    if (message.toolCalls?.some((known) => known.callId === call.callId)) return
    if (message !== last && this.#messages.length >= MOST_MESSAGES) return
    const changed = { ...message, toolCalls: [...(message.toolCalls ?? []), call] }
    this.#messages.splice(message === last ? -1 : this.#messages.length, 1, changed)
  }

  #end(): void {
    const messages = this.#messages.length === 0 ? [{ role: 'assistant' as const, text: '' }] : this.#messages
    this.#turns.push({ messages, usage: this.#usage ?? { state: 'unknown' } })
    this.#messages = []
    this.#usage = undefined
  }
}

const cut = (text: string): string => (text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text)
