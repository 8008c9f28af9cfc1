/** One statement, or a quoted or commented stretch in which a semicolon means nothing. */
const TOKENS = /--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|;/g

/** The statements of a SQL file, one by one: an embedded engine takes no more than one at a time. */
export const statementsOf = (text: string): readonly string[] => {
  const ends = [...text.matchAll(TOKENS)].filter(([token]) => token === ';').map(({ index }) => index)
  return [...ends, text.length]
    .map((end, count) => text.slice(count === 0 ? 0 : (ends[count - 1] ?? 0) + 1, end).trim())
    .filter((statement) => statement.replaceAll(/--[^\n]*/g, '').trim() !== '')
}
