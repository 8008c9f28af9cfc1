import { spelledOut, UNSAFE_CHARACTERS } from '../../domain/kernel/safe-text.ts'

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

/** Made when the first text needs it: making it takes longer than writing help. */
let graphemes: Intl.Segmenter | undefined
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const MARK_ONLY = /^\p{M}+$/u

const graphemesOf = (text: string): readonly string[] => {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return [...graphemes.segment(text)].map(({ segment }) => segment)
}

const columnsOf = (grapheme: string): number => (MARK_ONLY.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

const ASCII = /^[\u0020-\u007e]*$/

/** How many columns a text takes in a terminal. */
export const widthOf = (text: string): number =>
  ASCII.test(text) ? text.length : graphemesOf(text).reduce((width, grapheme) => width + columnsOf(grapheme), 0)

/** The text, or as much of it as fits before a `…`. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const grapheme of graphemesOf(text)) {
    used += columnsOf(grapheme)
    if (used > width - 1) break
    kept += grapheme
  }
  return `${kept}…`
}

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
