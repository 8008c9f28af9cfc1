import type { Instant } from '../kernel/instant.ts'
import { fenced } from '../kernel/nonce-fence.ts'

/** One message of a person. */
export interface PersonMessage {
  readonly text: string
  readonly at: Instant
  /** How many characters the whole had, when the text is only its beginning. */
  readonly cut?: { readonly length: number }
}

/** The messages of a person that a continuation carries, and how many it only counts. */
export interface ChosenWords {
  /** Oldest first. One with a cut is the beginning of a longer one. */
  readonly shown: readonly PersonMessage[]
  /** How many older messages are counted and not shown. */
  readonly leftOut: number
}

/** The share of the usable window that a person's words may take, and the most tokens unless it is said otherwise. */
const SHARE_OF_WINDOW = 0.1
export const MOST_TOKENS = 20_000

/** Of a window nobody knows the size of: a quarter of 32,000 tokens, the smallest window that agents are run in. */
const TOKENS_OF_UNKNOWN_WINDOW = 8_000

/** About so many bytes of UTF-8 make a token, in whatever alphabet. */
const BYTES_PER_TOKEN = 4

/**
 * How many tokens of a window a person's words may take: a tenth of it and 20,000 at most, 8,000 when its size is not
 * known, or what was set.
 *
 * @example
 * ```ts
 * console.log(personWordsBudget({ windowTokens: 128_000 })) // => 12800
 * ```
 */
export const personWordsBudget = (window: { readonly windowTokens?: number; readonly set?: number }): number =>
  window.set ??
  (window.windowTokens === undefined
    ? TOKENS_OF_UNKNOWN_WINDOW
    : Math.min(MOST_TOKENS, Math.floor(window.windowTokens * SHARE_OF_WINDOW)))

/** How many bytes of UTF-8 so many tokens are, about. */
export const bytesOfTokens = (tokens: number): number => tokens * BYTES_PER_TOKEN

/** The shortest entry is one character with its time, two line breaks and two brackets. */
const LEAST_BYTES = '[2026-11-16T03:45:34Z]\nx\n\n'.length

/** The most messages that there can be a line for in so many tokens: it is of no use to read more. */
export const mostPersonMessages = (tokens: number): number => Math.ceil(bytesOfTokens(tokens) / LEAST_BYTES) + 1

const utf8 = new TextEncoder()
const sizeOf = (text: string): number => utf8.encode(text).length

/** An entry, and the empty line after it. */
const costOf = (message: PersonMessage): number => sizeOf(entryOf(message)) + 2

/**
 * Chooses what a continuation carries of what a person said, within a budget of tokens: everything, where it fits. Where
 * it does not, the newest messages are whole, older ones are shortened as far as it takes, and those there is not even a
 * line for are counted. Nothing is left out in silence.
 *
 * @param messages newest first, as the store finds them
 * @param more how many older messages there are that were not read
 * @example
 * ```ts
 * const at = instant('2026-11-16T03:45:34Z')
 * const said = [{ text: 'In British English, please', at }, { text: 'x'.repeat(1_000_000), at }]
 * const { shown, leftOut } = choosePersonWords(said, { tokens: 100 })
 * console.log(shown.at(-1)?.text, leftOut) // => In British English, please 0
 * console.log(shown[0]?.cut) // => { length: 1000000 }
 * ```
 */
export const choosePersonWords = (
  messages: readonly PersonMessage[],
  { tokens, more = 0 }: { readonly tokens: number; readonly more?: number },
): ChosenWords => {
  const budget = bytesOfTokens(tokens)
  const costs = messages.map(costOf)
  const isAll = sum(costs) + (more > 0 ? sizeOf(leftOutLine(more)) + 2 : 0) <= budget
  if (isAll) return { shown: messages.toReversed(), leftOut: more }
  const room = budget - sizeOf(leftOutLine(messages.length + more)) - 2
  const whole = wholeOnes(costs, room)
  const rest = messages.slice(whole)
  const shortened = shorten(rest, room - sum(costs.slice(0, whole)))
  const shown = [...messages.slice(0, whole), ...shortened].toReversed()
  return { shown, leftOut: messages.length - shown.length + more }
}

/** How many of the newest are whole: the newest if it fits at all, and more of them up to half of the room. */
const wholeOnes = (costs: readonly number[], room: number): number => {
  let used = 0
  const first = costs.findIndex((cost, index) => {
    used += cost
    return used > (index === 0 ? room : room / 2)
  })
  return first === -1 ? costs.length : first
}

/** As many messages as there are lines for, each cut to one length that makes them fit. Short ones stay whole. */
const shorten = (messages: readonly PersonMessage[], room: number): readonly PersonMessage[] => {
  const fitting = (cap: number): readonly PersonMessage[] => messages.map((message) => capped(message, cap))
  const bare = fitting(0).map(costOf)
  let lines = 0
  for (let used = bare[0] ?? 0; lines < bare.length && used <= room; used += bare[lines] ?? 0) lines += 1
  const listed = messages.slice(0, lines)
  let [fits, tooLong] = [0, Math.max(0, room) + 1]
  while (tooLong - fits > 1) {
    const cap = Math.floor((fits + tooLong) / 2)
    if (sum(listed.map((message) => costOf(capped(message, cap)))) <= room) fits = cap
    else tooLong = cap
  }
  return listed.map((message) => capped(message, fits))
}

/** The beginning of a message in so many bytes, and how long it was; the message itself when it is no longer. */
const capped = (message: PersonMessage, bytes: number): PersonMessage => {
  const { text, at, cut } = message
  // No character takes more than three bytes for each unit, so that most texts need not be measured.
  if (text.length * 3 <= bytes) return message
  const { read } = utf8.encodeInto(text.slice(0, bytes + 1), new Uint8Array(bytes))
  if (read === text.length) return message
  const whole = { text: text.slice(0, read), at, cut: cut ?? { length: text.length } }
  return costOf(whole) < costOf(message) ? whole : message
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** A message with its time; of one that was cut, how long it was. */
const entryOf = ({ text, at, cut }: PersonMessage): string => {
  if (cut === undefined) return `[${at}]\n${text}`
  if (text === '') return `[${at}] (not shown: ${cut.length} characters)`
  return `[${at}] (only the beginning: it has ${cut.length} characters)\n${text}`
}

/** The line that stands for messages there is no room for. */
const leftOutLine = (count: number): string =>
  count === 1 ? '(1 earlier message is not shown.)' : `(${count} earlier messages are not shown.)`

/** The chosen part of a person's words as text, oldest first. */
export const textOfWords = ({ shown, leftOut }: ChosenWords): string =>
  [...(leftOut > 0 ? [leftOutLine(leftOut)] : []), ...shown.map(entryOf)].join('\n\n')

/** Words of a person as a prompt carries them, and what it takes to set them apart. */
export interface CarriedWords {
  readonly chosen: ChosenWords
  /** A fresh id, such as `uuidV7Ids.next()`. */
  readonly nonce: string
}

/**
 * A person's words for the next session, in a fence of their own and with what they are; nothing when there are none.
 *
 * @param around what stands beside them in the same prompt: the fence appears nowhere in there
 * @throws TypeError when the nonce is not at least 16 letters, digits and hyphens
 * @example
 * ```ts
 * const chosen = choosePersonWords([{ text: 'No, in British English', at: instant('2026-11-16T03:45:34Z') }], { tokens: 100 })
 * const block = personWordsBlock({ chosen, nonce: uuidV7Ids.next() }, 'Write the guide') ?? ''
 * console.log(block.split('\n').slice(-2)[0]) // => No, in British English
 * ```
 */
export const personWordsBlock = ({ chosen, nonce }: CarriedWords, around: string): string | undefined => {
  if (chosen.shown.length === 0 && chosen.leftOut === 0) return undefined
  const { fence, block } = fenced({ name: 'words', text: textOfWords(chosen), nonce, around, isPersons: true })
  return `${introduction(fence)}\n\n${block}`
}

const introduction = (fence: string): string =>
  'The person you work for also said the following in this conversation: their own words, oldest first, each with its ' +
  'time. Keep to them. They count more than any report on the work, and a later one counts more than an earlier one. ' +
  'The task is what is asked now: do not repeat a request that was carried out before. The words stand between ' +
  `the two lines that hold ${fence}, and end at the second.`
