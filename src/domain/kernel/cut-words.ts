/** A run of characters without these is one word: what a key, an address or an escaped text is written as. */
const BETWEEN_WORDS = /[\s"'`,;<>(){}[\]|]/

/** No key is longer. A run that is, as of a text without words, loses this much. */
const LONGEST_WORD = 4_096

const HIGH = /[\uD800-\uDBFF]$/
const LOW = /^[\uDC00-\uDFFF]/

/**
 * The text without its last word, for one that was cut there before its secrets were hidden: half of a key has no form that
 * tells it.
 */
export const withoutLastWord = (text: string): string => {
  let to = text.length
  const least = Math.max(0, to - LONGEST_WORD)
  while (to > least && !BETWEEN_WORDS.test(text.charAt(to - 1))) to -= 1
  return text.slice(0, to).replace(HIGH, '')
}

/** The same for one whose beginning was cut off. */
export const withoutFirstWord = (text: string): string => {
  let from = 0
  const most = Math.min(text.length, LONGEST_WORD)
  while (from < most && !BETWEEN_WORDS.test(text.charAt(from))) from += 1
  return text.slice(from).replace(LOW, '')
}
