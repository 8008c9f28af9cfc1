import { cutText, keptName } from '../../domain/kernel/cut-text.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import { RecentKeys } from '../../domain/kernel/recent-keys.ts'
import type { MessageInput, ToolCallInput, TurnInput } from '../../domain/turn/turn.ts'
import { bytesOf, MAX_TURN_BYTES } from '../../domain/turn/turn-size.ts'
import type { UsageReading } from '../../domain/window/usage-reading.ts'
import type { WindowEvent } from '../../domain/window/window-event.ts'
import type { RecordedText } from '../../ports/agent/window-reader.ts'

/** Far more than a window, and a bound for a recording in which no turn ever ends: one that is full is ended. */
const MOST_MESSAGES = 2_000
/** A redactor may make a text longer than it was. */
const MOST_BYTES = MAX_TURN_BYTES / 2
const LONGEST_TEXT = 1_000_000
const NO_CALLS: ReadonlySet<string | undefined> = new Set()

/** Events after which a turn's reading is read again. */
const ABOUT_A_READING: readonly WindowEvent['type'][] = [
  ...(['request', 'response_usage', 'answered', 'answer_text', 'appended', 'percentage'] as const),
]

/** A step of a runtime, once the gauge has taken it. */
export interface Said {
  /** The events of the main thread. */
  readonly events: readonly WindowEvent[]
  readonly texts: readonly RecordedText[]
  /** Whether it began a turn of the main thread, as far as the gauge or the runtime can tell. */
  readonly isNewTurn: boolean
  /** How full the window is after it. */
  readonly reading: UsageReading
}

type Answer = Extract<WindowEvent, { type: 'request' | 'unmetered' }>

/** How turns are put together. */
export interface TurnCollectorOptions {
  /** Which part of the gauge's reading a turn keeps, of what was said up to its end. */
  readonly keep: (reading: UsageReading) => UsageReading
  readonly sha256: Sha256
  /** Applied before a text is cut, so that no part of a secret is left at its end. */
  readonly redact?: ((text: string) => string) | undefined
}

/** Puts the messages of a runtime together into turns: the prompt, the answer, and the usage of the request. */
export class TurnCollector {
  readonly #options: TurnCollectorOptions
  readonly #turns: TurnInput[] = []
  /** Answers that have begun a turn. Told in parts, or told again, an answer is still one. */
  readonly #answers = new RecentKeys()
  #messages: MessageInput[] = []
  #bytes = 0
  #usage: UsageReading | undefined
  #unnamed = 0
  /** The calls of the turn that ended last. */
  #lastCalls: ReadonlySet<string | undefined> = NO_CALLS
  /** How many turns have begun. */
  begun = 0
  /** How many texts of unknown origin were said. */
  unknown = 0
  /** The model that answered first. */
  model: string | undefined

  constructor(options: TurnCollectorOptions) {
    this.#options = options
  }

  /** Takes a step and answers with the turns that it ended. */
  take(step: Said): readonly TurnInput[] {
    const { events, texts, reading } = step
    const answer = events.find((event): event is Answer => event.type === 'request' || event.type === 'unmetered')
    const isNewTurn = this.#isNew(step, answer)
    if (isNewTurn) this.#begin(answer)
    this.#read(reading, events)
    const results = texts.filter(({ role }) => role === 'tool')
    for (const text of texts) if (text.role !== 'tool') this.#say(text)
    // A call that is told with its result may have been told before, when it began.
    const lastCalls = results.length > 0 ? this.#lastCalls : NO_CALLS
    for (const event of events) if (event.type === 'tool_call' && !lastCalls.has(event.callId)) this.#call(event)
    for (const result of results) this.#say(result)
    // Everything that belongs to a request reported late has been said before it.
    if (isNewTurn && answer?.type === 'request' && answer.isLate === true) this.#end()
    return this.#turns.splice(0)
  }

  /** Takes something that we said to the agent between its turns. */
  note(text: string): void {
    this.#say({ role: 'system', text, origin: 'batonpass' })
  }

  /** The turn that was still open when the recording ended. */
  rest(): readonly TurnInput[] {
    if (this.#usage !== undefined) this.#end()
    return this.#turns.splice(0)
  }

  /**
   * The turn that was still open when the agent came to rest, also when nothing says what its request used. Results of
   * tools that were never answered are a turn too: they were seen, and what was seen is on record.
   */
  last(): readonly TurnInput[] {
    if (this.#messages.some(({ role }) => role !== 'user')) this.#usage ??= { state: 'unknown' }
    return this.rest()
  }

  /** The messages that belong to no turn yet, for a caller that adds them to the turn before. */
  drain(): readonly MessageInput[] {
    const messages = [...this.#turns.splice(0).flatMap(({ messages }) => messages), ...this.#messages.splice(0)]
    this.#bytes = 0
    this.#usage = undefined
    return messages.filter((message) => message.text !== '' || (message.role === 'assistant' && message.toolCalls))
  }

  /** An answer begins a turn, even if its usage is not known. */
  #isNew({ events, texts, isNewTurn }: Said, answer: Answer | undefined): boolean {
    const isFirst = answer?.key === undefined || this.#answers.add(answer.key)
    if (isNewTurn || answer?.type !== 'unmetered') return isNewTurn && isFirst
    if (answer.key !== undefined) return isFirst
    return texts.some(({ role }) => role === 'assistant') || events.some(({ type }) => type === 'tool_call')
  }

  /** A compaction wipes the reading out; the turn before it keeps what its request said. */
  #read(reading: UsageReading, events: readonly WindowEvent[]): void {
    const isAboutIt = events.some(({ type }) => ABOUT_A_READING.includes(type))
    if (this.#usage !== undefined && isAboutIt && reading.state !== 'unknown') this.#usage = this.#options.keep(reading)
  }

  #begin(answer: Answer | undefined): void {
    if (this.#usage !== undefined) this.#end()
    this.begun += 1
    this.#usage = { state: 'unknown' }
    this.model ??= keptName(answer?.model)
  }

  #say({ role, text, origin: given, id }: Omit<RecordedText, 'role'> & Pick<MessageInput, 'role'>): void {
    const providerMessageId = keptName(id)
    // Nobody vouches for it. Only a caller of the library who says nothing speaks for a person.
    const origin = role === 'user' ? (given ?? 'unknown') : given
    const message: MessageInput = {
      role,
      ...(origin !== undefined && { origin }),
      ...this.#cut(text),
      ...(providerMessageId !== undefined && { providerMessageId }),
    }
    if (origin === 'unknown') this.unknown += 1
    // A message to the agent after its answer begins the next turn.
    if (message.role !== 'assistant' && this.#usage !== undefined) this.#end()
    this.#add(message)
  }

  #cut(text: string): ReturnType<typeof cutText> {
    const { redact, sha256 } = this.#options
    // What fits is redacted when it is stored, like everything else.
    return cutText(text.length > LONGEST_TEXT ? (redact?.(text) ?? text) : text, LONGEST_TEXT, sha256)
  }

  #call({ callId, toolName, argument }: Extract<WindowEvent, { type: 'tool_call' }>): void {
    const last = this.#messages.at(-1)
    const message = last?.role === 'assistant' ? last : { role: 'assistant' as const, text: '' }
    const named = { callId: this.#idOf(callId), toolName: keptName(toolName) ?? 'unnamed' }
    const call: ToolCallInput = { ...named, ...(argument !== undefined && { argument }) }
    if (message.toolCalls?.some((made) => made.callId === call.callId)) return
    const changed = { ...message, toolCalls: [...(message.toolCalls ?? []), call] }
    if (message === last) this.#bytes -= bytesOf(this.#messages.pop() ?? message)
    this.#add(changed)
  }

  #idOf(given: string | undefined): string {
    const callId = keptName(given)
    this.#unnamed += callId === undefined ? 1 : 0
    return callId ?? `unnamed-${this.#unnamed}`
  }

  /** A turn that has no room for it is ended, and what follows belongs to the next. */
  #add(message: MessageInput): void {
    const bytes = bytesOf(message)
    const isFull = this.#messages.length >= MOST_MESSAGES || this.#bytes + bytes > MOST_BYTES
    if (isFull && this.#messages.length > 0) this.#end()
    this.#messages.push(message)
    this.#bytes += bytes
  }

  #end(): void {
    const messages = this.#messages.length === 0 ? [{ role: 'assistant' as const, text: '' }] : this.#messages
    this.#turns.push({ messages, usage: this.#usage ?? { state: 'unknown' } })
    const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    this.#lastCalls = new Set(calls.map(({ callId }) => callId))
    this.#messages = []
    this.#bytes = 0
    this.#usage = undefined
  }
}
