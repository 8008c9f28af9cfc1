import { plain, plainLines, widthOf, wrapped } from './render-text.ts'

/** The known facts about one thing, name by name; a fact that is not known is left out. */
export type Facts = Readonly<Record<string, string | number | undefined>>

/** Facts under each other, names aligned, in lines of this width. */
export const renderFacts = (facts: Facts, columns: number): readonly string[] => {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  const width = Math.max(...known.map(([name]) => widthOf(name)))
  const hang = ' '.repeat(width + 2)
  return known.flatMap(([name, value]) => wrapped(`${name.padEnd(width)}  ${plain(String(value))}`, columns, hang))
}

/** A longer text under a title. */
export const renderBlock = (title: string, text: string | undefined, columns: number): readonly string[] =>
  text === undefined ? [] : ['', `${title}:`, ...renderText(text, columns)]

/** A text with its own lines, indented, in lines of this width. Nothing of it is left out. */
export const renderText = (text: string, columns: number): readonly string[] =>
  plainLines(text).flatMap((line) => wrapped(`  ${line}`, columns, '  '))
