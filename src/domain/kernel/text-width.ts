/** Made when the first text needs it: making it takes longer than writing help. */
let graphemes: Intl.Segmenter | undefined
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const MARK_ONLY = /^\p{M}+$/u

/** The characters of a text as people see them. */
export const graphemesOf = (text: string): readonly string[] => {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return [...graphemes.segment(text)].map(({ segment }) => segment)
}

/** How many columns one such character takes in a terminal. */
export const columnsOf = (grapheme: string): number => (MARK_ONLY.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

/** One column each, of which a text can be measured without being taken apart. */
const NARROW = /^[\u0020-\u007e\u00b7\u2013\u2026\u2502\u2588\u2591]*$/

/** How many columns a text takes in a terminal. */
export const widthOf = (text: string): number =>
  NARROW.test(text) ? text.length : graphemesOf(text).reduce((width, grapheme) => width + columnsOf(grapheme), 0)

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
