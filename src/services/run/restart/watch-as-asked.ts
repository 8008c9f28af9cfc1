import { unwrap } from '../../../domain/unwrap.ts'
import { type MonitorSettings, type PressurePolicy, UNCHOSEN_POLICY } from '../../../domain/window/context-monitor.ts'
import { everyPage } from '../../../ports/store/page.ts'
import { type RunInProgress, unsaidPolicy } from '../run-in-progress.ts'
import { monitorOf } from '../run-request.ts'

type Watching = Pick<RunInProgress, 'deps' | 'request' | 'held' | 'retryThroughOutage'>

/** The monitor settings of this run count from now on, whatever an earlier run or another agent wanted. */
export const watchAsAsked = async (run: Watching): Promise<void> => {
  const settings: MonitorSettings = { ...(await ownPolicy(run)), ...monitorOf(run.request) }
  if (Object.keys(settings).length === 0) return
  const { session } = run.held
  const request = { session: session.id, settings }
  const { monitor } = unwrap(await run.retryThroughOutage((named) => run.deps.context.watch({ ...request, ...named })))
  run.held.update({ session: (await run.deps.history.session(session.id)) ?? session, monitor })
}

/** The policy of a run, in place of one that its session has only because nobody chose another. */
const ownPolicy = async (run: Watching): Promise<{ readonly policy?: PressurePolicy }> => {
  const { deps, request, held } = run
  const policy = unsaidPolicy(deps)
  const isOpen = request.policy === undefined && held.monitor?.policy === UNCHOSEN_POLICY && policy !== UNCHOSEN_POLICY
  return isOpen && (await chosenPolicy(run)) !== UNCHOSEN_POLICY ? { policy } : {}
}

/** The policy that somebody chose last for the sessions of the conversation; the log is read only where a monitor cannot tell. */
const chosenPolicy = ({ deps, held, retryThroughOutage }: Watching): Promise<PressurePolicy | undefined> =>
  retryThroughOutage(async () => {
    const { conversationId } = held.session
    let chosen: PressurePolicy | undefined
    for await (const { event } of everyPage((page) => deps.store.audit.list(conversationId, page)))
      if (event.type === 'context.monitor_set') chosen = event.policy ?? chosen
    return chosen
  })
