import { oneOf, understood } from '../choose/history-args.ts'
import { renderCompletion } from '../render/render-completion.ts'
import type { Run } from '../tree/command.ts'
import { COMMANDS, GROUPS } from '../tree/index.ts'
import { UsageError } from '../tree/problems.ts'
import { SHELLS } from '../tree/shells.ts'

/** Prints a script that completes commands and flags in a shell. */
export const completion: Run = async ({ positionals: [word], out }) => {
  if (word === undefined) throw new UsageError(`Say for which shell: ${SHELLS.join(', ')}.`)
  out.line(renderCompletion(understood('The shell', word, oneOf(SHELLS)), { commands: COMMANDS, groups: GROUPS }))
}
