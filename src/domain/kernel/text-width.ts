/** Made when the first text needs it: making it takes longer than writing help. */
let graphemes: Intl.Segmenter | undefined
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const MARK_ONLY = /^\p{M}+$/u

/** Each step of a segmenter costs as much as its text is long, so a long text is given to it in pieces. */
const PIECE = 1_024

/** The characters of a text as people see them, one after the other: a list of all has no room for a long text. */
export function* graphemesOf(text: string): Generator<string> {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  for (let from = 0; from < text.length; ) {
    const found = [...graphemes.segment(text.slice(from, from + PIECE))]
    // The last one may continue in the next piece, which begins with it.
    if (from + PIECE < text.length && found.length > 1) found.pop()
    for (const { segment } of found) {
      yield segment
      from += segment.length
    }
  }
}

/** How many columns one such character takes in a terminal. */
export const columnsOf = (grapheme: string): number => (MARK_ONLY.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

/** One column each, of which a text can be measured without being taken apart. */
const NARROW = /^[\u0020-\u007e\u00b7\u2013\u2026\u2502\u2588\u2591]*$/

/** How many columns a text takes in a terminal. */
export const widthOf = (text: string): number => {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const grapheme of graphemesOf(text)) width += columnsOf(grapheme)
  return width
}

/** The text, or as much of it as fits before a `…`. What is beyond that is not looked at. */
export const cut = (text: string, width: number): string => {
  if (NARROW.test(text)) return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
  let [shown, used] = ['', 0]
  for (const grapheme of graphemesOf(text)) {
    used += columnsOf(grapheme)
    if (used > width) return `${shown}…`
    if (used < width) shown += grapheme
  }
  return text
}
