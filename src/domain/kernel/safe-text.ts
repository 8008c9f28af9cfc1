/**
 * Characters that could move a cursor, change a colour, hide a line or turn text around: control characters of both sets,
 * bidi controls, invisible and unpaired characters. A person who reads a text with them may not see what it says.
 */
export const UNSAFE_CHARACTERS =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\p{Cs}\u{13430}-\u{13455}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** An unsafe character as people write it. */
export const spelledOut = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/** A text of any origin on one line, with nothing left out: a line break in it is seen, and begins no line. */
export const onOneLine = (text: string): string =>
  text.replaceAll(UNSAFE_CHARACTERS, (character) => SHORT[character] ?? spelledOut(character))
