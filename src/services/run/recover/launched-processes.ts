import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import type { ProcessIdentity } from '../../../domain/session/process-identity.ts'
import type { OnProcess } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { RunnerDeps } from '../run-terms.ts'

/** The parts of a run that a launch is recorded with. */
type Launching = Pick<RunInProgress, 'deps' | 'held' | 'launched' | 'retryThroughOutage' | 'signal' | 'stop'>

/** Records each process that is launched for the current session, before the process is given work. */
export const processRecorder = (run: Launching): OnProcess => {
  const { session, holder } = run.held
  return async (process) => {
    const processes = run.launched.add(session.id, process)
    const isOurs = await run.retryThroughOutage(() =>
      run.deps.store.leases.keepProcesses(session.id, holder, processes),
    )
    if (isOurs) return
    run.stop(run.held.supersededError())
    throw run.signal.reason
  }
}

/** An agent process of a lost runner, and its fate. */
export interface OrphanedProcess {
  readonly process: ProcessIdentity
  readonly fate: 'ended' | 'elsewhere'
}

/**
 * Ends the agent processes that the earlier holder left in a session that this process has taken over: two agents in
 * one folder undo each other's work. A process on another machine cannot be ended from here.
 *
 * @throws when one of them does not end
 */
export const endOrphans = async (
  { store, processes }: Pick<RunnerDeps, 'store' | 'processes'>,
  sessionId: AgentSessionId,
): Promise<readonly OrphanedProcess[]> => {
  const orphans: OrphanedProcess[] = []
  const lease = await store.leases.find(sessionId)
  if (lease?.broken?.includes('processes') === true)
    throw new Error(
      `The lease of session ${sessionId} is broken: which processes it left at work cannot be read, so nobody else begins. ` +
        'Look for its agent and end it; then complete or fail the session by hand. "baton status" shows what is broken.',
    )
  for (const process of lease?.processes ?? []) {
    const fate = (await processes?.end(process)) ?? 'elsewhere'
    if (fate === 'remains')
      throw new Error(`The agent that was left at work (${nameOf(process)}) does not end, so nobody else begins.`)
    if (fate !== 'gone') orphans.push({ process, fate })
  }
  return orphans
}

const nameOf = ({ host, leader }: ProcessIdentity): string =>
  leader === undefined ? `on ${host}` : `process ${leader.pid} on ${host}`
