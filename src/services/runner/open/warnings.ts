import { roomProblemOf } from '../../../domain/run/room-to-ask.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** Says once, when a run begins, what is allowed and worth a second look. */
export const warnAtStart = (run: RunInProgress): void => {
  if (run.conversation.workspace === undefined) warnOfNoPlace(run)
  else warnOfPlace(run)
  const { monitor } = run.hasSession ? run.held : {}
  if (monitor === undefined || run.policy !== 'auto' || run.request.runtime.ask === undefined) return
  const hardLimit = monitor.window.hardLimit ?? run.believedWindow()
  const window = { ...monitor.window, ...(hardLimit !== undefined && { hardLimit }) }
  for (const message of roomProblemOf({ ...monitor, window }))
    run.emit({ type: 'run:warning', code: 'threshold.no_room_to_ask', message })
}

/** A conversation keeps the place it began in. Whoever names another one would look there for the work in vain. */
const warnOfPlace = (run: RunInProgress): void => {
  const [kept, wanted] = [run.conversation.workspace, run.request.workspace]
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

/** Every later run would have to name the place as well. */
const warnOfNoPlace = (run: RunInProgress): void => {
  const { workingDirectory, worktreePath = workingDirectory } = run.workspace ?? {}
  if (worktreePath === undefined) return
  const message =
    `The conversation has no place on record: this run works in ${JSON.stringify(worktreePath)}, and others will not ` +
    'know. Open conversations with their workspace.'
  run.emit({ type: 'run:warning', code: 'workspace.not_kept', message })
}
