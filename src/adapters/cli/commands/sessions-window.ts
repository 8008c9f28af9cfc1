import { turnId } from '../../../domain/kernel/ids.ts'
import type { Run } from '../command.ts'
import { idText, notFound, understood } from '../history-args.ts'
import { UsageError } from '../problems.ts'
import { toJson, widthOn } from '../render-text.ts'
import { renderWindow } from '../render-window.ts'
import { wholeId } from '../which-id.ts'
import { withHistory } from '../with-history.ts'

/** Shows what a session's window held right after a turn. */
export const sessionsWindow: Run = async (invocation) => {
  const [word] = invocation.positionals
  if (word === undefined) throw new UsageError('Name the turn by its id.')
  const text = understood('The turn id', word, idText)
  await withHistory(invocation, async (history) => {
    const turn = await wholeId(history, 'turn', text, turnId)
    const window = await history.windowAt(turn)
    if (window === undefined) throw notFound('id', `there is no turn ${turn}`)
    invocation.out.line(
      invocation.values.json === true ? toJson(window) : renderWindow(window, widthOn(invocation.out)).join('\n'),
    )
  })
}
