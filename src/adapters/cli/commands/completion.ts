import type { Run } from '../command.ts'
import { oneOf, understood } from '../history-args.ts'
import { UsageError } from '../problems.ts'
import { renderCompletion } from '../render-completion.ts'
import { SHELLS } from '../shells.ts'
import { COMMANDS, GROUPS } from '../tree/index.ts'

/** Prints a script that completes commands and flags in a shell. */
export const completion: Run = async ({ positionals: [word], out }) => {
  if (word === undefined) throw new UsageError(`Say for which shell: ${SHELLS.join(', ')}.`)
  out.line(renderCompletion(understood('The shell', word, oneOf(SHELLS)), { commands: COMMANDS, groups: GROUPS }))
}
