import type { ProcessIdentity } from '../../../domain/session/process-identity.ts'
import type { OnProcess } from '../../../ports/agent-runtime.ts'
import type { RunInProgress, RunnerDeps } from '../run-in-progress.ts'

/** Records each process that is launched for the session that a run holds now, before it is given work. */
export const recording = (run: RunInProgress): OnProcess => {
  const { session, holder } = run.held
  return async (process) => {
    // Those before it in the same session may be slow to end.
    const before = run.launched.sessionId === session.id ? run.launched.processes : []
    const processes = [...before, process]
    run.launched = { sessionId: session.id, processes }
    const isOurs = await run.retryThroughOutage(() =>
      run.deps.store.leases.keepProcesses(session.id, holder, processes),
    )
    if (isOurs) return
    run.stop(run.overtaken())
    throw run.signal.reason
  }
}

/** The fate of a process that a lost runner started. */
export interface LeftProcess {
  readonly process: ProcessIdentity
  readonly fate: 'ended' | 'elsewhere'
}

/**
 * Ends what the holder before has left at work in a session that is ours now: two agents in one folder undo each other's
 * work. What is on another machine cannot be ended from here; only the lease says that its runner is gone.
 *
 * @throws when one of them does not end
 */
export const endOrphans = async (
  { store, processes }: Pick<RunnerDeps, 'store' | 'processes'>,
  sessionId: RunInProgress['held']['session']['id'],
): Promise<readonly LeftProcess[]> => {
  const left: LeftProcess[] = []
  for (const process of (await store.leases.find(sessionId))?.processes ?? []) {
    const fate = (await processes?.end(process)) ?? 'elsewhere'
    if (fate === 'remains')
      throw new Error(`The agent that was left at work (${nameOf(process)}) does not end, so nobody else begins.`)
    if (fate !== 'gone') left.push({ process, fate })
  }
  return left
}

const nameOf = ({ host, leader }: ProcessIdentity): string =>
  leader === undefined ? `on ${host}` : `process ${leader.pid} on ${host}`
