import { COLUMNS, cut, plain, plainLines, widthOf } from './render-text.ts'

/** What is known of one thing, name by name; what is not known is left out. */
export type Facts = Readonly<Record<string, string | number | undefined>>

/** Facts under each other, names aligned. */
export const renderFacts = (facts: Facts): readonly string[] => {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  const width = Math.max(...known.map(([name]) => widthOf(name)))
  return known.map(([name, value]) => cut(`${name.padEnd(width)}  ${plain(String(value))}`, COLUMNS))
}

/** A longer text under a title, indented, every line cut to fit. */
export const renderBlock = (title: string, text: string | undefined): readonly string[] =>
  text === undefined ? [] : ['', `${title}:`, ...plainLines(text).map((line) => cut(`  ${line}`, COLUMNS))]
