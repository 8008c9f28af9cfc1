import { parseAst } from 'vitest/node'
import { readSources } from '../support/source-file.ts'

/** A regular expression in the source. */
export interface FoundPattern {
  /** The file that it is in. */
  readonly place: string
  readonly source: string
  readonly flags: string
}

/** A regular expression that is made at run time, as it is written. */
export interface MadePattern {
  readonly place: string
  readonly text: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly name?: string }
}

/** The regular expressions of a TypeScript file: those that are written, and those that are made. */
export const patternsIn = (place: string, text: string) => {
  const found: FoundPattern[] = []
  const made: MadePattern[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    const { type, start, end, regex, callee } = value as Node
    if (regex) found.push({ place, source: regex.pattern, flags: regex.flags })
    else if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp')
      made.push({ place, text: text.slice(start, end) })
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(text, { lang: 'ts' }))
  return { found, made }
}

/** All regular expressions of the source, but for those of the published tests. */
export const allPatterns = () => {
  const read = readSources('src')
    .filter(({ path }) => !path.startsWith('testing/'))
    .map(({ path, text }) => patternsIn(path, text))
  return { found: read.flatMap(({ found }) => found), made: read.flatMap(({ made }) => made) }
}
