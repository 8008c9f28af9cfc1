import { forTerminal, asWords as plain, asLines as plainLines } from '../../../domain/kernel/safe-text.ts'
import { columnsOf, cut, graphemesOf, widthOf } from '../../../domain/kernel/text-width.ts'

export { cut, plain, plainLines, widthOf }

/** How wide a line to this output may be. */
export const widthOn = ({ columns }: { readonly columns?: number | undefined }): number =>
  columns ?? Number.POSITIVE_INFINITY

/** One JSON document. */
export const toJson = (value: unknown): string => forTerminal(JSON.stringify(value, null, 2))

/** The same on one line, for a stream of them. */
export const toJsonLine = (value: unknown): string => forTerminal(JSON.stringify(value))

/** The text, cut or filled up to a width. */
export const fitted = (text: string, width: number): string => {
  const short = cut(text, width)
  return short + ' '.repeat(Math.max(0, width - widthOf(short)))
}

/** The text, without its beginning where it is wider than this. */
export const cutStart = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  const left = [...graphemesOf(text)]
  while (left.length > 0 && widthOf(left.join('')) > width - 1) left.shift()
  return `…${left.join('')}`
}

/** Narrower than this, a text is not wrapped any more: a terminal does it better. */
const NARROWEST = 20

/** The text in lines of this width, broken between words where that is possible. Later lines begin with `hang`. */
export const wrapped = (text: string, width: number, hang = ''): readonly string[] => {
  if (width < hang.length + NARROWEST || cut(text, width) === text) return [text]
  const lines: string[] = []
  let [line, used] = ['', 0]
  for (const grapheme of graphemesOf(text)) {
    if (used + columnsOf(grapheme) > width) {
      const space = grapheme === ' ' ? line.length : line.lastIndexOf(' ')
      const isBetweenWords = space > hang.length
      lines.push(isBetweenWords ? line.slice(0, space) : line)
      line = `${hang}${isBetweenWords ? line.slice(space + 1) : ''}`
      used = widthOf(line)
      if (grapheme === ' ') continue
    }
    line += grapheme
    used += columnsOf(grapheme)
  }
  return [...lines, line]
}

/** The known facts about one thing, name by name; a fact that is not known is left out. */
export type Facts = Readonly<Record<string, string | number | undefined>>

/** Facts under each other, names aligned, in lines of this width. */
export const renderFacts = (facts: Facts, columns: number): readonly string[] => {
  const given = Object.entries(facts).filter(([, value]) => value !== undefined)
  const width = Math.max(...given.map(([name]) => widthOf(name)))
  const hang = ' '.repeat(width + 2)
  return given.flatMap(([name, value]) => wrapped(`${name.padEnd(width)}  ${plain(String(value))}`, columns, hang))
}

/** A longer text under a title. */
export const renderBlock = (title: string, text: string | undefined, columns: number): readonly string[] =>
  text === undefined ? [] : ['', `${title}:`, ...renderText(text, columns)]

/** A text with its own lines, indented, in lines of this width. Nothing of it is left out. */
export const renderText = (text: string, columns: number): readonly string[] =>
  plainLines(text).flatMap((line) => wrapped(`  ${line}`, columns, '  '))
