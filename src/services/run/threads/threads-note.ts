import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { NO_THREADS_NOTE, openThreadsNote } from '../../../domain/thread/thread-report.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import type { RunInProgress } from '../run-in-progress.ts'

type Noting = Pick<RunInProgress, 'deps' | 'conversation' | 'threads' | 'retryThroughOutage'>

/** So many of the last messages of a session are looked through for reports. */
const LATEST = 50

/**
 * The note for an agent that begins or resumes in the middle of threads: the reports that nobody has answered yet, and
 * the threads that are still at work. Nothing where nothing is delegated.
 */
export const threadsNote = async (
  run: Noting,
  before: AgentSessionId,
  { saysNone = false }: { readonly saysNone?: boolean } = {},
): Promise<string | undefined> => {
  if (!run.threads.areOffered) return undefined
  const { conversations } = run.deps.store
  const waited = await run.retryThroughOutage(() => conversations.listDelegated(run.conversation.id))
  const reports = await unheardReports(run, before)
  const open = await Promise.all(
    waited.map(async (thread) => ({
      ...thread,
      task: (await run.retryThroughOutage(() => conversations.find(thread.session.conversationId)))?.originalTask ?? '',
    })),
  )
  const none = saysNone && reports.length === 0 ? NO_THREADS_NOTE : undefined
  const note = joinedPrompt([...reports, open.length > 0 ? openThreadsNote(open) : none])
  return note === '' ? undefined : note
}

/** The reports of threads at the end of a session that its agent has not answered. */
const unheardReports = async (run: Noting, session: AgentSessionId): Promise<readonly string[]> => {
  const latest = await run.retryThroughOutage(() => run.deps.store.messages.listLatest(session, LATEST))
  const answered = latest.findLastIndex(({ role }) => role === 'assistant')
  return latest.slice(answered + 1).flatMap(({ reports, text }) => (reports === undefined ? [] : [text]))
}
