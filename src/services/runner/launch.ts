import { defined } from '../../domain/defined.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { Launch } from '../../ports/agent-runtime.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { beginRestart } from './threshold.ts'
import type { Launcher, SessionOutcome } from './work-session.ts'

/** What an agent is told that goes on in a session whose process was lost. */
const GO_ON =
  'The process that ran this session was lost, and you go on in it now. Something you began may not have been finished: ' +
  'look at what is there before you repeat a step, then go on with the task.'

const launchOf = (run: RunInProgress, prompt: string, signal: AbortSignal): Launch => {
  const { model } = run.held.session
  return defined({ prompt, model, workspace: run.workspace, signal })
}

/** Begins a session of the runtime. Where it takes a name for it, that is our session's id, so that it can be found again. */
export const startFresh =
  <Message>(run: RunInProgress<Message>, prompt: string, isNameTaken = false): Launcher<Message> =>
  (signal) => {
    const { runtime } = run.request
    const named = runtime.takesSessionId && !isNameTaken ? { providerSessionId: run.held.session.id } : {}
    return runtime.start({ ...launchOf(run, prompt, signal), ...named })
  }

/** Goes on in a session of the runtime that was there before. */
export const goOnIn = <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
  prompt: string,
): Launcher<Message> | undefined => {
  const { runtime } = run.request
  if (runtime.resume === undefined) return undefined
  const resume = runtime.resume.bind(runtime)
  return (signal) => resume({ ...launchOf(run, prompt, signal), providerSessionId })
}

/**
 * Goes on with a session whose process is gone. One that was never launched is launched, or adopted where the runtime
 * already knows it: between a launch and its recording a process may die. One that was is resumed where it can be, and
 * restarted in a fresh window where it cannot.
 */
export const relaunch = async <Message>(run: RunInProgress<Message>): Promise<Launcher<Message> | SessionOutcome> => {
  const { session } = run.held
  const known = session.providerSessionId ?? (await adopted(run))
  const again = known === undefined ? undefined : await resumable(run, known)
  if (again !== undefined) return again
  if (known === undefined || session.progress.turns === 0) {
    const opening = await run.deps.store.messages.findOpening(session.id)
    // It may have been spoken in under that name already, and this runtime cannot go on in it.
    const isNameTaken = known === session.id && run.request.runtime.resume === undefined
    return startFresh(run, opening?.text ?? run.conversation.originalTask, isNameTaken)
  }
  return restartInstead(run)
}

const adopted = async (run: RunInProgress): Promise<string | undefined> => {
  const { runtime } = run.request
  const { session } = run.held
  const named = { providerSessionId: session.id, ...defined({ workspace: run.workspace }) }
  if (!runtime.takesSessionId || (await runtime.has?.(named)) !== true) return undefined
  run.update(unwrap(await run.deps.handoffs.attachSession({ ...run.held, providerSessionId: session.id })))
  return session.id
}

const resumable = async <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
): Promise<Launcher<Message> | undefined> => {
  const { runtime } = run.request
  const isThere = await runtime.has?.({ providerSessionId, ...defined({ workspace: run.workspace }) })
  return isThere === false ? undefined : goOnIn(run, providerSessionId, GO_ON)
}

const restartInstead = async (run: RunInProgress): Promise<SessionOutcome> => {
  const reason = 'The process that ran it was lost, and its runtime cannot go on in a session.'
  const { handoff, refusedBy } = await beginRestart(run, reason, ['runtime_lost'])
  if (handoff !== undefined) return { type: 'restart', handoff }
  return { type: 'over', outcome: refusedBy === undefined ? 'failed' : 'exhausted', reason }
}
