import { Lexer } from 'yaml'

/**
 * The most parts a text may have: words, marks, line breaks and escapes. A configuration of a thousand lines has fewer.
 * Each may become an error or a node, and some of what is done with those grows with the square of their number.
 */
const MOST_PARTS = 10_000

/** The parts of a text, one after the other and read no further than they are asked for. */
function* partsOf(text: string): Generator<string> {
  for (const part of new Lexer().lex(text)) {
    yield part
    // Inside quotes each escape is looked at, and may be an error of its own.
    if (part.startsWith('"')) for (const _ of part.matchAll(/\\/g)) yield '\\'
  }
}

/** Whether a text has more parts than a configuration. It stops at the first that is too many. */
export const hasTooManyParts = (text: string, parts: (text: string) => Iterable<string> = partsOf): boolean => {
  let count = 0
  for (const _ of parts(text)) {
    count += 1
    if (count > MOST_PARTS) return true
  }
  return false
}
