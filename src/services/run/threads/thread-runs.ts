import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { outcomeOnRecord } from '../../../domain/thread/thread-report.ts'
import type { AgentRun } from '../agent-run.ts'
import { type CastRunRequest, isCastRequest } from '../cast.ts'
import type { SharedSpending } from '../run-account.ts'
import type { RecordOfRun } from '../run-in-progress.ts'
import type { RunRequest } from '../run-request.ts'
import type { SessionOutcome } from '../work/session-outcome.ts'
import type { RunThread } from './run-threads.ts'

/**
 * Runs the threads of a run: each with the same agents and settings, in its own conversation. The run that delegated
 * the thread emits the events of the thread too, except its end: that is emitted once it is recorded with the parent.
 */
export const threadsOf = (
  request: RunRequest | CastRunRequest,
  { restartBudget }: Pick<Conversation, 'restartBudget'>,
  runOf: (about: CastRunRequest, spending: SharedSpending) => AgentRun<unknown>,
): ((spending: SharedSpending) => RunThread) | undefined => {
  if (!isCastRequest(request)) return undefined
  const { conversation: _key, resume: _session, subject: _subject, ...rest } = request
  const budget = defined({ maxCostUsd: restartBudget.maxCostUsd })
  return (spending) =>
    async ({ session }, { signal, emit }) => {
      const { conversationId, agentName: start } = session
      const run = runOf({ ...rest, start, conversationId, prompt: '', budget, signal }, spending)
      run.on((event) => {
        if (event.type !== 'run:end') emit(event)
      })
      return run.finish()
    }
}

/** The outcome of a thread that another process has finished meanwhile; undefined while there is something to run. */
export const endedThread = async (run: RecordOfRun): Promise<SessionOutcome | undefined> => {
  const { deps, conversation } = run
  const latest = await run.retryThroughOutage(() => deps.store.sessions.findLatest(conversation.id))
  const ended = latest && outcomeOnRecord(latest)
  return ended && { type: 'over', ...ended, outcome: ended.outcome === 'completed' ? 'completed' : 'failed' }
}
