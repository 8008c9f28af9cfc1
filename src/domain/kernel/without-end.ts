/**
 * A text without the characters of a kind at its end. Read from the end: a pattern such as `/x+$/` begins anew at every
 * `x`, which takes the square of the time in a text of many.
 */
export const withoutEnd = (text: string, kind: RegExp): string => {
  let end = text.length
  while (end > 0 && kind.test(text[end - 1] as string)) end -= 1
  return text.slice(0, end)
}
