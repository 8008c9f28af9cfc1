/** The tokens that matter when a file is cut: ends, comments, and quoted stretches in which neither counts. */
const TOKEN = new RegExp(
  [
    '(?<end>;)',
    '(?<line>--[^\\n]*)',
    '(?<block>/\\*)',
    // E'…' strings escape with a backslash, others only by doubling.
    "(?<![\\w$])[eE]'(?:[^'\\\\]|\\\\[\\s\\S]|'')*'",
    "'(?:[^']|'')*'",
    '"(?:[^"]|"")*"',
    '(?<![\\w$])\\$(?<tag>[A-Za-z_]\\w*)?\\$[\\s\\S]*?\\$\\k<tag>\\$',
  ].join('|'),
  'g',
)

/**
 * The statements of a SQL file, one by one and without their comments: an embedded engine takes no more than one at a
 * time. Bodies stand between dollars; `begin atomic` bodies are not understood.
 */
export const statementsOf = (text: string): readonly string[] => {
  const statements: string[] = []
  let statement = ''
  let at = 0
  for (let token = next(text, at); token !== null; token = next(text, at)) {
    const { end, line, block } = token.groups ?? {}
    const isKept = end === undefined && line === undefined && block === undefined
    statement += text.slice(at, token.index) + (isKept ? token[0] : ' ')
    at = block === undefined ? token.index + token[0].length : endOfComment(text, token.index)
    if (end === undefined) continue
    statements.push(statement)
    statement = ''
  }
  return [...statements, statement + text.slice(at)].map((part) => part.trim()).filter((part) => part !== '')
}

const next = (text: string, at: number): RegExpExecArray | null => {
  TOKEN.lastIndex = at
  return TOKEN.exec(text)
}

/** Comments nest in Postgres, which no regular expression can follow. */
const endOfComment = (text: string, start: number): number => {
  let depth = 0
  for (const { 0: mark, index } of text.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return start + index + mark.length
  }
  return text.length
}
