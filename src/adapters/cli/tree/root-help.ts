import type { Output } from '../invocation/output.ts'
import { wrapped } from '../render/text.ts'
import { ROOT_HELP } from './root-help-text.ts'
import { USUAL_HELP_COLUMNS, writeHelp } from './write-help.ts'

/** The name at the beginning of a line of help, with the space after it: the text beside it is wrapped below itself. */
const NAME = /^ {2}\S.*? {2,}/

/** A line with an exit status. The parser never wraps these. */
const EXIT_STATUS = /^ {2}\d/

const wrappedLine = (line: string, columns: number): readonly string[] =>
  EXIT_STATUS.test(line) ? [line] : wrapped(line, columns, ' '.repeat(NAME.exec(line)?.[0].length ?? 0))

/** Shows the help of `baton` without the command tree and its parser: loading those takes half as long as starting Node. */
export const showRootHelp = (out: Output): void => {
  const columns = out.columns ?? USUAL_HELP_COLUMNS
  const lines = ROOT_HELP.split('\n').flatMap((line) => wrappedLine(line, columns))
  writeHelp(out, lines.join('\n'))
}
