import { defined } from '../../domain/defined.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { Launch } from '../../ports/agent-runtime.ts'
import { recording } from './agent-processes.ts'
import { readBackWork } from './read-back.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { beginRestart } from './threshold.ts'
import type { Launcher, SessionOutcome } from './work-session.ts'

/** What an agent is told that goes on in a session whose process was lost. */
const GO_ON =
  'The process that ran this session was lost, and you go on in it now. Something you began may not have been finished: ' +
  'look at what is there before you repeat a step, then go on with the task.'

const launchOf = (run: RunInProgress, prompt: string, signal: AbortSignal): Launch => {
  const { model } = run.held.session
  return defined({ prompt, model, workspace: run.workspace, signal, onProcess: recording(run) })
}

/** Begins a session of the runtime. Where it takes a name for it, that is our session's id, so that it can be found again. */
export const startFresh = <Message>(
  run: RunInProgress<Message>,
  prompt: string,
  { isNameTaken = false, isNew = false }: { readonly isNameTaken?: boolean; readonly isNew?: boolean } = {},
): Launcher<Message> => ({
  prompt,
  isNew,
  start: (signal) => {
    const { runtime } = run.request
    const named = runtime.takesSessionId && !isNameTaken ? { providerSessionId: run.held.session.id } : {}
    return runtime.start({ ...launchOf(run, prompt, signal), ...named })
  },
})

/** Goes on in a session of the runtime that was there before. */
export const goOnIn = <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
  { prompt, isNew = true }: { readonly prompt: string; readonly isNew?: boolean },
): Launcher<Message> | undefined => {
  const { runtime } = run.request
  if (runtime.resume === undefined) return undefined
  const resume = runtime.resume.bind(runtime)
  return { prompt, isNew, start: (signal) => resume({ ...launchOf(run, prompt, signal), providerSessionId }) }
}

/** What was asked of this run and not yet of the conversation; nothing when somebody only recovers it. */
export const newPrompt = ({ request, conversation, deps }: RunInProgress): string | undefined => {
  const isOriginal = (deps.redact?.(request.prompt) ?? request.prompt) === conversation.originalTask
  return isOriginal || request.prompt === '' ? undefined : request.prompt
}

/** What a successor is launched with: what it opens with, and what was newly asked of a run that took a restart over. */
export const startSuccessor = <Message>(run: RunInProgress<Message>, opening: string): Launcher<Message> => {
  const { owedPrompt } = run
  run.owedPrompt = undefined
  if (owedPrompt === undefined) return startFresh(run, opening)
  return startFresh(run, `${opening}\n\n${owedPrompt}`, { isNew: true })
}

/** A prompt, and what was newly asked after it. */
const withNewPrompt = (run: RunInProgress, prompt: string): string => {
  const asked = newPrompt(run)
  return asked === undefined ? prompt : `${prompt}\n\n${asked}`
}

/**
 * Goes on with a session whose process is gone. One that was never launched is launched, or adopted where the runtime
 * already knows it: between a launch and its recording a process may die. One that was is resumed where it can be, and
 * restarted in a fresh window where it cannot.
 */
export const relaunch = async <Message>(run: RunInProgress<Message>): Promise<Launcher<Message> | SessionOutcome> => {
  const { session } = run.held
  const { runtime } = run.request
  const isOurs = session.backend === runtime.backend
  const known = isOurs ? (session.providerSessionId ?? (await adopted(run))) : undefined
  const readBack = known === undefined ? undefined : await readBackWork(run, known)
  if (readBack !== undefined) return readBack
  const hasSpoken = run.held.session.progress.turns > 0
  const opening = hasSpoken ? undefined : (await run.deps.store.messages.findOpening(session.id))?.text
  const again = known === undefined ? undefined : await resumable(run, known, opening)
  if (again !== undefined) return again
  if (hasSpoken && (known !== undefined || !isOurs)) return restartInstead(run)
  // It may have been spoken in under that name already, and this runtime cannot go on in it.
  const isNameTaken = known === session.id && runtime.resume === undefined
  const asked = newPrompt(run)
  const prompt = withNewPrompt(run, opening ?? run.conversation.originalTask)
  return startFresh(run, prompt, { isNameTaken, isNew: asked !== undefined })
}

const adopted = async (run: RunInProgress): Promise<string | undefined> => {
  const { runtime } = run.request
  const { session } = run.held
  const named = { providerSessionId: session.id, ...defined({ workspace: run.workspace }) }
  if (!runtime.takesSessionId || (await runtime.has?.(named)) !== true) return undefined
  const request = { ...run.held, providerSessionId: session.id }
  run.update(unwrap(await run.steadily((command) => run.deps.handoffs.attachSession({ ...request, ...command }))))
  return session.id
}

/** Whoever has not answered yet may not have been asked: then the opening comes again. */
const resumable = async <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
  opening: string | undefined,
): Promise<Launcher<Message> | undefined> => {
  const { runtime } = run.request
  const isThere = await runtime.has?.({ providerSessionId, ...defined({ workspace: run.workspace }) })
  const prompt = withNewPrompt(run, opening === undefined ? GO_ON : `${GO_ON}\n\n${opening}`)
  return isThere === false ? undefined : goOnIn(run, providerSessionId, { prompt })
}

const restartInstead = async (run: RunInProgress): Promise<SessionOutcome> => {
  const reason = 'The process that ran it was lost, and its runtime cannot go on in a session.'
  const { handoff, refusedBy: limit } = await beginRestart(run, reason, ['runtime_lost'])
  if (handoff !== undefined) return { type: 'restart', handoff }
  return limit === undefined
    ? { type: 'over', outcome: 'failed', reason }
    : { type: 'over', outcome: 'exhausted', reason, limit }
}
