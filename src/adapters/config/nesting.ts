import { CST, Parser } from 'yaml'

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
