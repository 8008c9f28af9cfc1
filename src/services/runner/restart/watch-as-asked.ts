import { unwrap } from '../../../domain/unwrap.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { monitorOf } from '../run-request.ts'

/** The monitor settings of this run count from now on, whatever an earlier run or another agent wanted. */
export const watchAsAsked = async (
  run: Pick<RunInProgress, 'deps' | 'request' | 'held' | 'retryThroughOutage'>,
): Promise<void> => {
  const settings = monitorOf(run.request)
  if (Object.keys(settings).length === 0) return
  const { session } = run.held
  const request = { session: session.id, settings }
  const { monitor } = unwrap(await run.retryThroughOutage((named) => run.deps.context.watch({ ...request, ...named })))
  run.held.update({ session: (await run.deps.history.session(session.id)) ?? session, monitor })
}
