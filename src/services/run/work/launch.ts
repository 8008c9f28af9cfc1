import { defined } from '../../../domain/kernel/defined.ts'
import { isWaitingThread } from '../../../domain/session/agent-session.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import type { Launch, RunningAgent } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'
import { askSessionHooks } from '../hooks/hook-calls.ts'
import { processRecorder } from '../recover/agent-processes.ts'
import { readBackWork } from '../recover/read-back.ts'
import { RESUME_WHERE_STOPPED, RESUME_AFTER_LOSS } from '../restart/resume-prompts.ts'
import { type RunInProgress, workspaceOf } from '../run-in-progress.ts'
import { threadsNote } from '../threads/threads-note.ts'
import { owedRestart, restartInstead, type SessionOutcome } from './session-outcome.ts'

/** Launches an agent for a session. */
export interface Launcher<Message> {
  /** The signal ends it at once. */
  readonly start: (signal: Launch['signal']) => RunningAgent<Message>
  /** All that the agent is told. */
  readonly prompt: string
  /** The parts of it that are not on record yet: they belong to the turn that answers them. */
  readonly unrecorded: readonly RecordedText[]
  /** The session of the runtime that it goes on in, and how many turns ours had then; absent when it begins one. */
  readonly resumes?: { readonly providerSessionId: string; readonly turns: number }
}

const launchOf = (run: RunInProgress, prompt: string, signal: AbortSignal): Launch => {
  const { model } = run.held.session
  const tools = run.tools.offerTo(run.held)
  return defined({ prompt, model, workspace: workspaceOf(run), signal, onProcess: processRecorder(run), tools })
}

/** Begins a session of the runtime. Where it takes a name for it, that is our session's id, so that it can be found again. */
export const startFresh = <Message>(
  run: RunInProgress<Message>,
  prompt: string,
  {
    isNameTaken = false,
    unrecorded = [],
  }: Partial<Pick<Launcher<Message>, 'unrecorded'>> & { isNameTaken?: boolean } = {},
): Launcher<Message> => ({
  prompt,
  unrecorded,
  start: (signal) => {
    const { runtime } = run.request
    const named = runtime.takesSessionId && !isNameTaken ? { providerSessionId: run.held.session.id } : {}
    return runtime.start({ ...launchOf(run, prompt, signal), ...named })
  },
})

/** Goes on in a session of the runtime that was there before. */
export const resumeIn = <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
  { prompt, unrecorded = [] }: { readonly prompt: string } & Partial<Pick<Launcher<Message>, 'unrecorded'>>,
): Launcher<Message> | undefined => {
  const { runtime } = run.request
  if (runtime.resume === undefined) return undefined
  const resume = runtime.resume.bind(runtime)
  const resumes = { providerSessionId, turns: run.held.session.progress.turns }
  const start = (signal: AbortSignal) => resume({ ...launchOf(run, prompt, signal), providerSessionId })
  return { prompt, unrecorded, resumes, start }
}

/** The successor's launch: its opening, and after it the task of a run that took a restart over, if it is not said yet. */
export const startSuccessor = <Message>(run: RunInProgress<Message>, opening: string): Launcher<Message> => {
  const unsaid = takeUnsaid(run)
  return startFresh(run, joinedPrompt([opening, wordsOf(unsaid)]), { unrecorded: unsaid })
}

/** Something a person asks. */
const personText = (text: string): RecordedText => ({ role: 'user', text, origin: 'person' })

/** Something Batonpass tells the agent. */
const batonpassText = (text: string): RecordedText => ({ role: 'user', text, origin: 'batonpass' })

const wordsOf = (texts: readonly RecordedText[]): string => joinedPrompt(texts.map(({ text }) => text))

/** The task that is still to be said, which it is with the next launch. */
const takeUnsaid = ({ conversation }: Pick<RunInProgress, 'conversation'>): readonly RecordedText[] => {
  const task = conversation.takeUnsaid()
  return task === undefined ? [] : [personText(task)]
}

/** The prompt of a session that was stopped and is resumed: what is newly asked, or to continue. */
export const promptToResume = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'conversation' | 'threads' | 'retryThroughOutage'>,
): Promise<Pick<Launcher<unknown>, 'prompt' | 'unrecorded'>> => {
  const { session } = run.held
  const unsaid = takeUnsaid(run)
  const isHeard = session.progress.turns > 0
  const threads = isHeard ? await threadsNote(run, session.id) : undefined
  const noted = threads === undefined ? [] : [batonpassText(threads)]
  const unrecorded = [...(unsaid.length === 0 && isHeard ? [batonpassText(RESUME_WHERE_STOPPED)] : unsaid), ...noted]
  // One that has not answered may not have been asked: then its opening comes again.
  const opening = isHeard ? undefined : await run.deps.store.messages.findOpening(session.id)
  const before = isHeard ? undefined : (opening?.text ?? run.conversation.task)
  return { prompt: joinedPrompt([before, wordsOf(unrecorded)]), unrecorded }
}

/**
 * Resumes a session whose process is gone. One that was never launched is launched, or adoptProviderSession where the runtime
 * already knows it: between a launch and its recording a process may die. One that was is resumed where it can be, and
 * restarted in a fresh window where it cannot.
 */
export const relaunch = async <Message>(run: RunInProgress<Message>): Promise<Launcher<Message> | SessionOutcome> => {
  const { session } = run.held
  const { runtime } = run.request
  const isOurs = session.backend === runtime.backend
  const known = isOurs ? (session.providerSessionId ?? (await adoptProviderSession(run))) : undefined
  const readBack = known === undefined ? undefined : await readBackWork(run, known)
  if (readBack !== undefined) return readBack
  const owed = await owedRestart(run)
  if (owed !== undefined) return owed
  const hasSpoken = run.held.session.progress.turns > 0
  const opening = hasSpoken ? undefined : (await run.deps.store.messages.findOpening(session.id))?.text
  const again = known === undefined ? undefined : await resumedLaunch(run, known, opening)
  if (again !== undefined) return again
  if (hasSpoken && (known !== undefined || !isOurs)) return restartInstead(run, LOST)
  // It may have been spoken in under that name already, and this runtime cannot go on in it.
  const isNameTaken = known === session.id && runtime.resume === undefined
  const unsaid = takeUnsaid(run)
  const before = opening ?? (unsaid.length > 0 ? undefined : run.conversation.task)
  const unrecorded = [...(await threadContext(run, before)), ...unsaid]
  return startFresh(run, joinedPrompt([before, wordsOf(unrecorded)]), { isNameTaken, unrecorded })
}

/** The output of session-start hooks for a thread that is launched for the first time: it was opened without them. */
const threadContext = async (run: RunInProgress, prompt = ''): Promise<readonly RecordedText[]> => {
  const { session } = run.held
  if (!isWaitingThread(session)) return []
  const nonce = run.deps.ids.next()
  const text = await askSessionHooks(run, { sessionId: session.id, prompt, nonce, isContinuation: false })
  return text === undefined ? [] : [{ role: 'user', text, origin: 'hook' }]
}

const adoptProviderSession = async (run: RunInProgress): Promise<string | undefined> => {
  const { runtime } = run.request
  const { session } = run.held
  const named = { providerSessionId: session.id, ...defined({ workspace: workspaceOf(run) }) }
  if (!runtime.takesSessionId || (await runtime.has?.(named)) !== true) return undefined
  const request = { ...run.held.working, providerSessionId: session.id }
  run.held.update(
    unwrap(await run.retryThroughOutage((command) => run.deps.handoffs.attachSession({ ...request, ...command }))),
  )
  return session.id
}

/** Whoever has not answered yet may not have been asked: then the opening comes again. */
const resumedLaunch = async <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
  opening: string | undefined,
): Promise<Launcher<Message> | undefined> => {
  const { runtime } = run.request
  const isThere = await runtime.has?.({ providerSessionId, ...defined({ workspace: workspaceOf(run) }) })
  if (isThere === false) return undefined
  const threads = await threadsNote(run, run.held.session.id, { saysNone: opening === undefined })
  const unrecorded = [batonpassText(joinedPrompt([RESUME_AFTER_LOSS, opening, threads])), ...takeUnsaid(run)]
  return resumeIn(run, providerSessionId, { prompt: wordsOf(unrecorded), unrecorded })
}

const LOST = 'The process that ran it was lost, and its runtime cannot go on in a session.'
