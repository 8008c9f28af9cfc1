import { roomProblemOf } from '../../domain/run/room-to-ask.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** Says once, when a run begins, what is allowed and worth a second look. */
export const warnAtStart = (run: RunInProgress): void => {
  warnOfPlace(run)
  const { monitor } = run.hasSession ? run.held : {}
  if (monitor === undefined || run.policy !== 'auto' || run.request.runtime.ask === undefined) return
  const hardLimit = monitor.window.hardLimit ?? run.believedWindow()
  const window = { ...monitor.window, ...(hardLimit !== undefined && { hardLimit }) }
  for (const message of roomProblemOf({ ...monitor, window }))
    run.emit({ type: 'run:warning', code: 'threshold.no_room_to_ask', message })
}

/** A conversation keeps the place it began in. Whoever names another one would look there for the work in vain. */
const warnOfPlace = (run: RunInProgress): void => {
  const [kept, wanted] = [run.workspace, run.request.workspace]
  // A worktree of the conversation's own is found from any folder.
  const key =
    kept?.worktreePath === undefined && wanted?.worktreePath === undefined ? 'workingDirectory' : 'worktreePath'
  const [here, there] = [kept?.worktreePath ?? kept?.workingDirectory, wanted?.[key]]
  if (here === undefined || there === undefined || here === there) return
  const message =
    `The conversation works in ${JSON.stringify(here)}, where it began, and ${JSON.stringify(there)} is not used. ` +
    'To work there, begin another conversation.'
  run.emit({ type: 'run:warning', code: 'workspace.kept', message })
}
