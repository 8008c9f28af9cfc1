import { unwrap } from '../../domain/unwrap.ts'
import {
  type MonitorSettings,
  type PressurePolicy,
  RUN_POLICY,
  UNCHOSEN_POLICY,
} from '../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import { everyPage } from '../../ports/store/page.ts'
import type { HeldSession } from './held-session.ts'
import type { RetryThroughOutage } from './retry-through-outage.ts'
import { monitorOf } from './run-request.ts'
import type { RunnerDeps, RunTerms } from './run-terms.ts'

/** The parts of a run that determine its policy about full windows. */
type Windowed = Pick<RunTerms, 'deps' | 'request'> & { readonly held: HeldSession }

/** The policy about a full window: of this run, else of its session, else of all. */
export const policyOf = ({ request, held, deps }: Windowed): PressurePolicy =>
  request.policy ?? held.monitor?.policy ?? unsaidPolicy(deps)

/** The policy where neither the run nor its session sets one. */
export const unsaidPolicy = ({ monitor }: Pick<RunnerDeps, 'monitor'>): PressurePolicy => monitor?.policy ?? RUN_POLICY

/** The believed window of the requested model; undefined when no model was requested. */
export const believedWindowOf = ({ request, held, deps }: Windowed): WindowSize | undefined => {
  const model = request.model ?? (held.isThere ? held.session.model : undefined)
  return model === undefined ? undefined : deps.believedWindow?.(model)
}

/** The parts of a run that set the monitor of its session. */
type Watching = Windowed & { readonly retryThroughOutage: RetryThroughOutage }

/** Gives the session the monitor settings of this run, in place of those of an earlier run or another agent. */
export const applyMonitorSettings = async (run: Watching): Promise<void> => {
  const settings: MonitorSettings = { ...(await ownPolicy(run)), ...monitorOf(run.request) }
  if (Object.keys(settings).length === 0) return
  const { session } = run.held
  const request = { session: session.id, settings }
  const { monitor } = unwrap(await run.retryThroughOutage((named) => run.deps.context.watch({ ...request, ...named })))
  run.held.update({ session: (await run.deps.history.session(session.id)) ?? session, monitor })
}

/** The policy of this run, if the session has its policy only by default. */
const ownPolicy = async (run: Watching): Promise<{ readonly policy?: PressurePolicy }> => {
  const { deps, request, held } = run
  const policy = unsaidPolicy(deps)
  const isOpen = request.policy === undefined && held.monitor?.policy === UNCHOSEN_POLICY && policy !== UNCHOSEN_POLICY
  return isOpen && (await chosenPolicy(run)) !== UNCHOSEN_POLICY ? { policy } : {}
}

/**
 * The policy that was last set for a session of the conversation, from the log: the monitor does not tell a set policy
 * from the default.
 */
const chosenPolicy = ({ deps, held, retryThroughOutage }: Watching): Promise<PressurePolicy | undefined> =>
  retryThroughOutage(async () => {
    const { conversationId } = held.session
    let chosen: PressurePolicy | undefined
    for await (const { event } of everyPage((page) => deps.store.audit.list(conversationId, page)))
      if (event.type === 'context.monitor_set') chosen = event.policy ?? chosen
    return chosen
  })
