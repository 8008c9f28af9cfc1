import { type Sha256, toHex } from './digest.ts'

/** Says that a text is the beginning of a longer one, and of which. */
export interface CutText {
  /** How many characters the whole text had. */
  readonly length: number
  /** The SHA-256 of the whole text in UTF-8, as lower-case hexadecimal. */
  readonly sha256: string
}

/** Names and keys are looked up by index, which takes no more than this whatever the alphabet. */
export const MAX_NAME_LENGTH = 300

const utf8 = new TextEncoder()

/** The beginning of a text, and which one it was when that is not all of it. */
export const cutText = (
  text: string,
  most: number,
  sha256: Sha256,
): { readonly text: string; readonly cut?: CutText } =>
  text.length <= most
    ? { text }
    : { text: beginningOf(text, most), cut: { length: text.length, sha256: toHex(sha256(utf8.encode(text))) } }

/** A name that a runtime gave, as it can be kept: cut when it is too long, and absent when it is blank. */
export const keptName = (name: string | undefined): string | undefined =>
  name === undefined || name.trim() === '' ? undefined : beginningOf(name, MAX_NAME_LENGTH)

/** The beginning of a text, without half of a character that takes two units. */
export const beginningOf = (text: string, most: number): string => {
  const cut = text.slice(0, most)
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
