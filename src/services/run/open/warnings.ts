import { roomProblemOf } from '../../../domain/run/room-to-ask.ts'
import { type Placed, type RunInProgress, workspaceOf } from '../run-in-progress.ts'
import type { RunTerms } from '../run-terms.ts'
import { believedWindowOf, policyOf } from '../run-window.ts'

/** Says once, when a run begins, what is allowed and worth a second look. */
export const warnAtStart = (run: RunTerms & Pick<RunInProgress, 'conversation' | 'held' | 'news'>): void => {
  if (run.conversation.current.workspace === undefined) warnOfNoPlace(run)
  else warnOfPlace(run)
  warnOfUnknownWindow(run)
  const { monitor } = run.held
  if (monitor === undefined || policyOf(run) !== 'auto' || run.request.runtime.ask === undefined) return
  const hardLimit = monitor.window.hardLimit ?? believedWindowOf(run)
  const window = { ...monitor.window, ...(hardLimit !== undefined && { hardLimit }) }
  for (const message of roomProblemOf({ ...monitor, window }))
    run.news.emit({ type: 'run:warning', code: 'threshold.no_room_to_ask', message })
}

/** A conversation keeps the place it began in. Whoever names another one would look there for the work in vain. */
const warnOfPlace = (run: Pick<RunInProgress, 'conversation' | 'request' | 'news'>): void => {
  const [kept, wanted] = [run.conversation.current.workspace, run.request.workspace]
  // A worktree of the conversation's own is found from any folder.
  const key =
    kept?.worktreePath === undefined && wanted?.worktreePath === undefined ? 'workingDirectory' : 'worktreePath'
  const [here, there] = [kept?.worktreePath ?? kept?.workingDirectory, wanted?.[key]]
  if (here === undefined || there === undefined || here === there) return
  const message =
    `The conversation works in ${JSON.stringify(here)}, where it began, and ${JSON.stringify(there)} is not used. ` +
    'To work there, begin another conversation.'
  run.news.emit({ type: 'run:warning', code: 'workspace.kept', message })
}

/** Every later run would have to name the place as well. */
const warnOfNoPlace = (run: Placed & Pick<RunInProgress, 'news'>): void => {
  const { workingDirectory, worktreePath = workingDirectory } = workspaceOf(run) ?? {}
  if (worktreePath === undefined) return
  const message =
    `The conversation has no place on record: this run works in ${JSON.stringify(worktreePath)}, and others will not ` +
    'know. Open conversations with their workspace.'
  run.news.emit({ type: 'run:warning', code: 'workspace.not_kept', message })
}

/** A restart is seen by the share of the window that is used: without its size there will be none. */
const warnOfUnknownWindow = (run: Pick<RunInProgress, 'request' | 'deps' | 'held' | 'news'>): void => {
  const { monitor } = run.held
  if (monitor?.isEnabled !== true || policyOf(run) !== 'auto' || run.request.runtime.reportsWindow === true) return
  const { configuredLimit, hardLimit = believedWindowOf(run) } = monitor.window
  if (configuredLimit !== undefined || hardLimit !== undefined) return
  const message =
    'Nobody has said yet how large the window is. If the agent does not say it either, no restart is possible: give the ' +
    'size with --context-limit TOKENS, as context_limit in the configuration, or name the model.'
  run.news.emit({ type: 'run:warning', code: 'window.not_known_yet', message })
}
