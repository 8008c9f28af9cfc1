import type { Message } from '../turn/message.ts'
import type { ToolCall } from '../turn/tool-call.ts'
import { citationOf } from './checkpoint-citation.ts'

/** The parts of a session's record that a recap needs. Each list oldest first. */
export interface RecapParts {
  /** The latest things that were said in the session. Without an origin, a user's are taken for a person's. */
  readonly messages: readonly (Pick<Message, 'role' | 'text' | 'recordedAt'> & Partial<Pick<Message, 'origin'>>)[]
  /** The latest tools it used. */
  readonly calls: readonly Pick<ToolCall, 'callId' | 'toolName' | 'argument'>[]
}

/** Some 5,000 tokens: enough to find the place again, and small beside any window. */
export const MAX_RECAP_LENGTH = 20_000

/** Less has no room for the headings beside what stands below them. */
const LEAST_ROOM = 6_000

/** The longest a single text may be in a recap, of those where the whole is not needed. */
const LONGEST_ITEM = 1_500

/** Tools that change files, by the words in their names. */
const CHANGES_FILES = /edit|write|patch|create|delete|remove|rename|move|notebook/i

/**
 * Recaps a session from the record: what was asked, what was done last, which files were touched, what tools answered
 * last, and, under its own heading, text that nobody is known to have written. Made without a model, for a successor whose predecessor left no checkpoint. The latest comes first to be kept:
 * where the room ends, earlier ones are counted.
 *
 * @throws TypeError when there is no room at all
 * @example
 * ```ts
 * const messages = [{ role: 'assistant' as const, text: 'The clock was wrong.', recordedAt: systemClock.now() }]
 * const calls = [{ callId: 'toolu_01', toolName: 'Edit', argument: 'src/clock.ts' }]
 * console.log(recapOf({ messages, calls }).includes('- Edit: src/clock.ts [call:toolu_01]')) // => true
 * ```
 */
export const recapOf = ({ messages, calls }: RecapParts, maxCharacters: number = MAX_RECAP_LENGTH): string => {
  if (!Number.isSafeInteger(maxCharacters) || maxCharacters < LEAST_ROOM)
    throw new TypeError(`A recap needs room for at least ${LEAST_ROOM} characters, got ${maxCharacters}`)
  const textsOf = (role: Message['role']) => messages.filter((message) => message.role === role && message.text !== '')
  const prompts = textsOf('user').filter(({ origin = 'person' }) => origin === 'person')
  const unknown = textsOf('user').filter(({ origin }) => origin === 'unknown')
  const room = (share: number): number => Math.floor(maxCharacters * share)
  const files = filesChanged(calls)
  return [
    ...section('What was asked', prompts.map(atItsTime), room(0.25)),
    ...section('Tools used last', calls.map(lineOf), room(0.25)),
    ...section('What the agent said last', textsOf('assistant').map(quoted), room(0.2)),
    ...section(
      'Files touched',
      files.map((file) => `- ${file}`),
      room(0.1),
    ),
    ...section('What tools answered last', textsOf('tool').map(quoted), room(0.1)),
    // Counted, so that nobody takes a few of them for all; last, because nobody vouches for them.
    ...section(`Text of unknown origin (${unknown.length})`, unknown.map(quoted), room(0.05)),
  ].join('\n\n')
}

/** The files that tools changed, as far as their names and arguments say so, each once. */
export const filesChanged = (calls: readonly Pick<ToolCall, 'toolName' | 'argument'>[]): readonly string[] => [
  ...new Set(calls.filter(({ toolName }) => CHANGES_FILES.test(toolName)).flatMap(filesOf)),
]

/** A heading with as many of the items as there is room for, latest last; nothing when there are none. */
const section = (title: string, items: readonly string[], room: number): readonly string[] => {
  if (items.length === 0) return []
  const newest: string[] = []
  let left = room
  for (const item of items.toReversed()) {
    const text = shortened(item, Math.min(LONGEST_ITEM, room))
    if (newest.length > 0 && text.length + 1 > left) break
    newest.unshift(text)
    left -= text.length + 1
  }
  const earlier = items.length - newest.length
  return [[`## ${title}`, ...(earlier === 0 ? [] : [`(${earlier} earlier not shown)`]), ...newest].join('\n')]
}

const atItsTime = ({ text, recordedAt }: RecapParts['messages'][number]): string => `- at ${recordedAt}: ${text}`

const quoted = ({ text }: RecapParts['messages'][number]): string => `- ${text}`

const lineOf = ({ callId, toolName, argument = '' }: RecapParts['calls'][number]): string =>
  `- ${toolName}${argument === '' ? '' : `: ${argument}`} ${citationOf(callId)}`

/** A call may name several files, and a path has no comma with a space in it. */
export const filesOf = ({ argument = '' }: Pick<ToolCall, 'argument'>): readonly string[] =>
  argument.split(', ').filter((path) => path !== '' && !/\s/.test(path))

/** The beginning and the end of a text: what failed is mostly said at the end. */
const shortened = (text: string, most: number): string => {
  if (text.length <= most) return text
  const half = Math.max(10, Math.floor((most - 50) / 2))
  const [begin, end] = [text.slice(0, half), text.slice(-half)]
  const left = text.length - 2 * half
  return `${begin.replace(/[\uD800-\uDBFF]$/, '')} [… ${left} characters left out …] ${end.replace(/^[\uDC00-\uDFFF]/, '')}`
}
