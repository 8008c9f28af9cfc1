import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLError } from 'yaml'
import { ConfigurationError } from '../../domain/run/run-configuration.ts'
import type { SettingPath } from './milestone-settings.ts'
import { hasTooManyParts, nestsTooDeep } from './text-limits.ts'

/** The content of a text, and the line of each part of it. */
export interface ParsedText {
  readonly content: unknown
  lineOf(path: SettingPath): number | undefined
}

/** Plain data only: no tags, no merging, no key twice. A file may come from a repository one has just cloned. */
const STRICT = {
  schema: 'core',
  resolveKnownTags: false,
  merge: false,
  stringKeys: true,
  uniqueKeys: true,
  prettyErrors: false,
} as const

/** More than a configuration repeats, and far less than a bomb needs. */
const MOST_ALIASES = 50

/** One mistake in YAML is reported many times over; the first ones say where it is. */
const MOST_SYNTAX_PROBLEMS = 3

/** Reads YAML, or JSON where the name says so. */
export const parseText = (text: string, isJson: boolean): ParsedText => {
  if (hasTooManyParts(text)) throw tooMany()
  if (nestsTooDeep(text)) throw tooDeep()
  const lines = new LineCounter()
  const document = parseDocument(text, { ...STRICT, lineCounter: lines })
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const lineOf = (path: SettingPath): number | undefined => {
    const offset = offsetOf(document, path)
    return offset === undefined ? undefined : lineAt(offset)
  }
  const wrong = [...document.errors, ...document.warnings]
  // JSON with tabs or odd line breaks may not be YAML; only what JSON itself lets pass is taken from here.
  const relevant = isJson ? wrong.filter(({ code }) => code === 'DUPLICATE_KEY') : wrong
  const content = isJson ? jsonIn(text, lineAt) : undefined
  if (relevant.length > 0) throw syntaxError(relevant, lineAt)
  return { content: isJson ? content : plainData(document), lineOf }
}

const tooMany = (): ConfigurationError =>
  new ConfigurationError([{ path: '', problem: 'it has too many parts', advice: 'Keep what a person would write.' }])

const tooDeep = (): ConfigurationError =>
  new ConfigurationError([{ path: '', problem: 'it nests too deep', advice: 'Close what was opened.' }])

const jsonIn = (text: string, lineAt: (offset: number) => number): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const offset = /at position (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1]
    const line = offset === undefined ? {} : { line: lineAt(Number(offset)) }
    throw new ConfigurationError(
      [{ path: '', problem: 'it is not JSON', advice: 'Check commas and quotes.', ...line }],
      {
        cause,
      },
    )
  }
}

const plainData = (document: Document): unknown => {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES })
  } catch (cause) {
    const advice = 'Use few aliases, and only of anchors that stand before them.'
    throw new ConfigurationError([{ path: '', problem: 'its aliases cannot be followed', advice }], { cause })
  }
}

const syntaxError = (wrong: readonly YAMLError[], lineAt: (offset: number) => number): ConfigurationError =>
  new ConfigurationError(
    wrong.slice(0, MOST_SYNTAX_PROBLEMS).map(({ code, message, pos }) => ({
      path: '',
      ...(KNOWN_MISTAKES[code] ?? { problem: `it is not YAML: ${message.split('\n')[0]}`, advice: 'Check this line.' }),
      line: lineAt(pos[0]),
    })),
  )

const KNOWN_MISTAKES: Readonly<Record<string, { readonly problem: string; readonly advice: string }>> = {
  DUPLICATE_KEY: { problem: 'a key stands here twice', advice: 'Keep one of them.' },
  MULTIPLE_DOCS: { problem: 'a second document begins here', advice: 'Keep one document in a file.' },
  TAB_AS_INDENT: { problem: 'a tab is used to indent', advice: 'Use spaces.' },
  TAG_RESOLVE_FAILED: { problem: 'a tag stands here', advice: 'Write plain values, without ! tags.' },
}

/** Where the last part of a path that is really there begins. */
const offsetOf = (document: Document, path: SettingPath): number | undefined => {
  let node: unknown = document.contents
  let offset: number | undefined
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
      if (pair === undefined) break
      offset = isScalar(pair.key) ? pair.key.range?.[0] : offset
      node = pair.value
    } else if (isSeq(node) && typeof part === 'number') {
      node = node.items[part]
      offset = (node as { range?: readonly number[] } | undefined)?.range?.[0] ?? offset
    } else break
  }
  return offset
}
