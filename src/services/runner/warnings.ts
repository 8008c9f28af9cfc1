import { roomProblemOf } from '../../domain/room-to-ask.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** Says once, when a run begins, what is allowed and worth a second look. */
export const warnAtStart = (run: RunInProgress): void => {
  const { monitor } = run.hasSession ? run.held : {}
  if (monitor === undefined || run.policy !== 'auto' || run.request.runtime.ask === undefined) return
  const hardLimit = monitor.window.hardLimit ?? run.believedWindow()
  const window = { ...monitor.window, ...(hardLimit !== undefined && { hardLimit }) }
  for (const message of roomProblemOf({ ...monitor, window }))
    run.emit({ type: 'run:warning', code: 'threshold.no_room_to_ask', message })
}
