import { forTerminal } from '../../../domain/kernel/safe-text.ts'
import { columnsOf, cut, graphemesOf, widthOf } from '../../../domain/kernel/text-width.ts'

export { asLines as plainLines, asWords as plain, forTerminal } from '../../../domain/kernel/safe-text.ts'
export { cut, widthOf } from '../../../domain/kernel/text-width.ts'

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
