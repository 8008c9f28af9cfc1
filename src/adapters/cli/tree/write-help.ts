import type { Output } from '../invocation/output.ts'
import { writeSpans } from '../terminal/style.ts'

/** The width of help where the output has no width. */
export const USUAL_HELP_COLUMNS = 100

/** A title of help, such as `Flags:`. */
const TITLE = /^\S.*:$/

/** Writes a help text, with its titles marked where there is colour. */
export const writeHelp = (out: Output, text: string): void => {
  for (const line of text.split('\n')) writeSpans(out, [{ text: line, style: TITLE.test(line) ? 'title' : undefined }])
}
