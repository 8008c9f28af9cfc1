import { turnId } from '../../../domain/kernel/ids.ts'
import type { CliCommand } from '../command.ts'
import { notFound, noWords, understood } from '../history-args.ts'
import { UsageError } from '../problems.ts'
import { toJson } from '../render-text.ts'
import { renderWindow } from '../render-window.ts'
import { STORE_FLAGS, STORE_FLAGS_HELP } from '../store-options.ts'
import { withHistory } from '../with-history.ts'

/** Shows what a session's window held right after a turn. */
export const sessionsWindow: CliCommand = {
  summary: 'show what the window held right after a turn',
  usage: 'sessions window TURN',
  details: `Counted from what was recorded, for that session alone.\n\n${STORE_FLAGS_HELP}`,
  options: STORE_FLAGS,
  run: async (invocation) => {
    const [word, ...rest] = invocation.positionals
    if (word === undefined) throw new UsageError('Name the turn by its id.')
    noWords({ ...invocation, positionals: rest })
    const turn = understood('The turn id', word, turnId)
    await withHistory(invocation, async (history) => {
      const window = await history.windowAt(turn)
      if (window === undefined) throw notFound('id', `there is no turn ${turn}`)
      invocation.out.line(invocation.values.json === true ? toJson(window) : renderWindow(window).join('\n'))
    })
  },
}
