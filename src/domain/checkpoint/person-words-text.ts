import { fenced } from '../kernel/nonce-fence.ts'
import type { ChosenWords, PersonMessage } from './person-words.ts'

/** A message with its time; of one that was cut, how long it was. */
export const entryOf = ({ text, at, cut }: PersonMessage): string => {
  if (cut === undefined) return `[${at}]\n${text}`
  if (text === '') return `[${at}] (not shown: ${cut.length} characters)`
  return `[${at}] (only the beginning: it has ${cut.length} characters)\n${text}`
}

/** The line that stands for messages there is no room for. */
export const leftOutLine = (count: number): string =>
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
