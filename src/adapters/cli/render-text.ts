import { spelledOut, UNSAFE_CHARACTERS } from '../../domain/kernel/safe-text.ts'
import { columnsOf, cut, graphemesOf, widthOf } from '../../domain/kernel/text-width.ts'

export { cut, widthOf } from '../../domain/kernel/text-width.ts'

/** How wide a line to this output may be. */
export const widthOn = ({ columns }: { readonly columns?: number | undefined }): number =>
  columns ?? Number.POSITIVE_INFINITY

/** Text of any origin on one line, safe to print: white space as one space, the unprintable spelled out. */
export const plain = (text: string): string =>
  text
    .replaceAll(/[\s\u0085]+/gu, ' ')
    .trim()
    .replaceAll(UNSAFE_CHARACTERS, spelledOut)

/** Text of any origin with its line breaks, safe to print. */
export const plainLines = (text: string): readonly string[] =>
  text
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/u)
    .map((line) => line.replaceAll('\t', '  ').replaceAll(UNSAFE_CHARACTERS, spelledOut))

/** One JSON document. */
export const toJson = (value: unknown): string => forTerminal(JSON.stringify(value, null, 2))

/** The same on one line, for a stream of them. */
export const toJsonLine = (value: unknown): string => forTerminal(JSON.stringify(value))

/**
 * A text as it may reach a terminal: line breaks are left, and anything else that is unsafe is written as JSON writes it.
 * So a document in JSON stays one, with the same values in it.
 */
export const forTerminal = (text: string): string =>
  text.replaceAll(UNSAFE_CHARACTERS, (character) =>
    character === '\n' ? character : [...Array(character.length).keys()].map((at) => unit(character, at)).join(''),
  )

const unit = (text: string, at: number): string => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`

/** The text, cut or filled up to a width. */
export const fitted = (text: string, width: number): string => {
  const short = cut(text, width)
  return short + ' '.repeat(Math.max(0, width - widthOf(short)))
}

/** Narrower than this, a text is not wrapped any more: a terminal does it better. */
const NARROWEST = 20

/** The text in lines of this width, broken between words where that is possible. Later lines begin with `hang`. */
export const wrapped = (text: string, width: number, hang = ''): readonly string[] => {
  if (width < hang.length + NARROWEST || widthOf(text) <= width) return [text]
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
