import { roomProblemOf } from '../../../domain/run/room-to-ask.ts'
import { type Placed, type RunInProgress, runWorkspace } from '../run-in-progress.ts'
import type { RunTerms } from '../run-terms.ts'
import { believedWindowOf, policyOf } from '../run-window.ts'

/** Emits warnings when a run begins: about settings that are allowed and may be a mistake. */
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

/**
 * A conversation keeps the place that it began in. A caller that names another one would look there for the work in
 * vain.
 */
const warnOfPlace = (run: Pick<RunInProgress, 'conversation' | 'request' | 'news'>): void => {
  const [recorded, wanted] = [run.conversation.current.workspace, run.request.workspace]
  // A worktree of the conversation's own is found from any folder.
  const key =
    recorded?.worktreePath === undefined && wanted?.worktreePath === undefined ? 'workingDirectory' : 'worktreePath'
  const [here, there] = [recorded?.worktreePath ?? recorded?.workingDirectory, wanted?.[key]]
  if (here === undefined || there === undefined || here === there) return
  const message =
    `The conversation works in ${JSON.stringify(here)}, where it began, and ${JSON.stringify(there)} is not used. ` +
    'To work there, begin another conversation.'
  run.news.emit({ type: 'run:warning', code: 'workspace.kept', message })
}

/** Without a place on record, every later run would have to name the place as well. */
const warnOfNoPlace = (run: Placed & Pick<RunInProgress, 'news'>): void => {
  const { workingDirectory, worktreePath = workingDirectory } = runWorkspace(run) ?? {}
  if (worktreePath === undefined) return
  const message =
    `The conversation has no place on record: this run works in ${JSON.stringify(worktreePath)}, and others will not ` +
    'know. Open conversations with their workspace.'
  run.news.emit({ type: 'run:warning', code: 'workspace.not_kept', message })
}

/** A restart is due at a share of the window: without the size of the window there is no restart. */
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
