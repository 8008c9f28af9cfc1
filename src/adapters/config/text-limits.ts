import { CST, Lexer, Parser } from 'yaml'

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

/** Far deeper than any configuration. */
const MOST_LEVELS = 50

/**
 * Whether a text nests deeper than a configuration does. The tokens are read without recursion, and looked at before
 * anything else reads the text with it: a stack that runs out in the middle can end the whole process.
 */
export const nestsTooDeep = (text: string): boolean => {
  const open: [token: CST.Token, level: number][] = [...new Parser().parse(text)].map((token) => [token, 0])
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, level] = next
    if (level > MOST_LEVELS) return true
    for (const inner of tokensIn(token)) open.push([inner, level + 1])
  }
  return false
}

const tokensIn = (token: CST.Token): readonly CST.Token[] => {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value]
  if (!CST.isCollection(token)) return []
  return token.items.flatMap(({ key, value }) => [key, value].filter((part) => part !== undefined && part !== null))
}
