import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { NO_THREADS_NOTE, openThreadsNote } from '../../../domain/thread/thread-report.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import type { RunInProgress } from '../run-in-progress.ts'

type Noting = Pick<RunInProgress, 'deps' | 'conversation' | 'threads' | 'retryThroughOutage'>

/** How many of the latest messages of a session are searched for reports. */
const LATEST = 50

/**
 * The note for an agent that begins or resumes while it has threads: the reports that it has not answered yet, and the
 * threads that still run. Undefined where a run delegates nothing.
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
