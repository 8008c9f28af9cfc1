import { defined } from '../../../domain/kernel/defined.ts'
import { isWaitingThread } from '../../../domain/session/agent-session.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import type { Launch, RunningAgent } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'
import { askSessionHooks } from '../hooks/hook-calls.ts'
import { processRecorder } from '../recover/launched-processes.ts'
import { readBackWork } from '../recover/read-back.ts'
import { RESUME_AFTER_LOSS, RESUME_WHERE_STOPPED } from '../restart/resume-prompts.ts'
import { type RunInProgress, runWorkspace } from '../run-in-progress.ts'
import { threadsNote } from '../threads/threads-note.ts'
import { owedRestart, restartInstead, type SessionOutcome } from './session-outcome.ts'

/** Launches an agent for a session. */
export interface Launcher<Message> {
  /** The signal ends it at once. */
  readonly start: (signal: Launch['signal']) => RunningAgent<Message>
  /** All that the agent is sent. */
  readonly prompt: string
  /** The parts of it that are not on record yet: they belong to the turn that answers them. */
  readonly unrecorded: readonly RecordedText[]
  /** The provider session that it resumes, and how many turns our session had then; absent when it begins one. */
  readonly resumes?: { readonly providerSessionId: string; readonly turns: number }
}

const launchOf = (run: RunInProgress, prompt: string, signal: AbortSignal): Launch => {
  const { model } = run.held.session
  const tools = run.tools.offerTo(run.held)
  return defined({ prompt, model, workspace: runWorkspace(run), signal, onProcess: processRecorder(run), tools })
}

/**
 * Begins a provider session. Where the runtime lets us choose its id, that is the id of our session, so that it can be
 * found again.
 */
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

/** Resumes a provider session. @returns undefined when the runtime cannot resume */
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

/** Launches the successor with its opening, and after that a new task that no agent was sent yet. */
export const startSuccessor = <Message>(run: RunInProgress<Message>, opening: string): Launcher<Message> => {
  const unsaid = takeUnsaid(run)
  return startFresh(run, joinedPrompt([opening, wordsOf(unsaid)]), { unrecorded: unsaid })
}

/** A text of the person. */
const personText = (text: string): RecordedText => ({ role: 'user', text, origin: 'person' })

/** A text of Batonpass for the agent. */
const batonpassText = (text: string): RecordedText => ({ role: 'user', text, origin: 'batonpass' })

const wordsOf = (texts: readonly RecordedText[]): string => joinedPrompt(texts.map(({ text }) => text))

/** The task that the agent is still to be sent; the caller sends it with the next launch. */
const takeUnsaid = ({ conversation }: Pick<RunInProgress, 'conversation'>): readonly RecordedText[] => {
  const task = conversation.takeUnsaid()
  return task === undefined ? [] : [personText(task)]
}

/** The prompt that resumes a paused session: the new task, or the request to continue. */
export const promptToResume = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'conversation' | 'threads' | 'retryThroughOutage'>,
): Promise<Pick<Launcher<unknown>, 'prompt' | 'unrecorded'>> => {
  const { session } = run.held
  const unsaid = takeUnsaid(run)
  const hasAnswered = session.progress.turns > 0
  const threads = hasAnswered ? await threadsNote(run, session.id) : undefined
  const noted = threads === undefined ? [] : [batonpassText(threads)]
  const unrecorded = [
    ...(unsaid.length === 0 && hasAnswered ? [batonpassText(RESUME_WHERE_STOPPED)] : unsaid),
    ...noted,
  ]
  // An agent that has not answered may never have received its opening, so it is sent again.
  const opening = hasAnswered ? undefined : await run.deps.store.messages.findOpening(session.id)
  const before = hasAnswered ? undefined : (opening?.text ?? run.conversation.task)
  return { prompt: joinedPrompt([before, wordsOf(unrecorded)]), unrecorded }
}

/**
 * Relaunches a session that this run has taken over. A session that was launched is resumed where its runtime can, and
 * else restarted in a fresh window. A session without a launch on record is launched; if the runtime has it all the
 * same, because the process died between a launch and its recording, it is resumed under that id.
 */
export const relaunch = async <Message>(run: RunInProgress<Message>): Promise<Launcher<Message> | SessionOutcome> => {
  const { session } = run.held
  const { runtime } = run.request
  const isOurs = session.backend === runtime.backend
  const resumeId = isOurs ? (session.providerSessionId ?? (await adoptProviderSession(run))) : undefined
  const readBack = resumeId === undefined ? undefined : await readBackWork(run, resumeId)
  if (readBack !== undefined) return readBack
  const owed = await owedRestart(run)
  if (owed !== undefined) return owed
  const hasSpoken = run.held.session.progress.turns > 0
  const opening = hasSpoken ? undefined : (await run.deps.store.messages.findOpening(session.id))?.text
  const again = resumeId === undefined ? undefined : await resumedLaunch(run, resumeId, opening)
  if (again !== undefined) return again
  if (hasSpoken && (resumeId !== undefined || !isOurs)) return restartInstead(run, LOST)
  // The runtime may have a session of that id already, and cannot resume it: then it gets no id from us.
  const isNameTaken = resumeId === session.id && runtime.resume === undefined
  const unsaid = takeUnsaid(run)
  const before = opening ?? (unsaid.length > 0 ? undefined : run.conversation.task)
  const unrecorded = [...(await threadContext(run, before)), ...unsaid]
  return startFresh(run, joinedPrompt([before, wordsOf(unrecorded)]), { isNameTaken, unrecorded })
}

/** The output of session-start hooks for the first launch of a thread: they were not called when it was opened. */
const threadContext = async (run: RunInProgress, prompt = ''): Promise<readonly RecordedText[]> => {
  const { session } = run.held
  if (!isWaitingThread(session)) return []
  const nonce = run.deps.ids.next()
  const text = await askSessionHooks(run, { sessionId: session.id, prompt, nonce, isContinuation: false })
  return text === undefined ? [] : [{ role: 'user', text, origin: 'hook' }]
}

/** Finds a session in the runtime that was launched under our id but not recorded, and records that id. */
const adoptProviderSession = async (run: RunInProgress): Promise<string | undefined> => {
  const { runtime } = run.request
  const { session } = run.held
  const named = { providerSessionId: session.id, ...defined({ workspace: runWorkspace(run) }) }
  if (!runtime.takesSessionId || (await runtime.has?.(named)) !== true) return undefined
  const request = { ...run.held.working, providerSessionId: session.id }
  run.held.update(
    unwrap(await run.retryThroughOutage((command) => run.deps.handoffs.attachSession({ ...request, ...command }))),
  )
  return session.id
}

/**
 * Resumes an orphaned session. With `opening` its agent has not answered yet, and may never have received the opening:
 * it is sent again.
 */
const resumedLaunch = async <Message>(
  run: RunInProgress<Message>,
  providerSessionId: string,
  opening: string | undefined,
): Promise<Launcher<Message> | undefined> => {
  const { runtime } = run.request
  const isThere = await runtime.has?.({ providerSessionId, ...defined({ workspace: runWorkspace(run) }) })
  if (isThere === false) return undefined
  const threads = await threadsNote(run, run.held.session.id, { saysNone: opening === undefined })
  const unrecorded = [batonpassText(joinedPrompt([RESUME_AFTER_LOSS, opening, threads])), ...takeUnsaid(run)]
  return resumeIn(run, providerSessionId, { prompt: wordsOf(unrecorded), unrecorded })
}

const LOST = 'The process that ran it was lost, and its runtime cannot resume a session.'
