import { continuationFor } from '../../../domain/checkpoint/continuation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import { describeRefusal } from '../../../domain/refusal.ts'
import { delegationNote } from '../../../domain/thread/thread-report.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import type { ThreadAsked } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** Submits the wishes of an agent that uses no tool for them. A refused wish becomes a warning of the run. */
export const submitThreadWishes = async (run: RunInProgress, wishes: readonly ThreadAsked[] = []): Promise<void> => {
  for (const wish of wishes) {
    const submitted = await run.threads.submit(wish)
    if (!submitted.ok) run.news.emit({ type: 'run:warning', code: 'thread.refused', message: submitted.error.message })
  }
}

/** Opens the threads that the agent wished for, once the turn with the wishes is recorded, and runs them. */
export const openThreads = async (run: RunInProgress): Promise<void> => {
  for (const wish of run.threads.takeWishes()) await openOne(run, wish)
}

const openOne = async (run: RunInProgress, { to, task, reason, document }: ThreadAsked): Promise<void> => {
  const { deps, held, spans } = run
  const { agentName: fromAgent } = held.session
  const { runtime, model } = run.agents.requestFor(to) ?? run.request
  const nonce = deps.ids.next()
  const opening = continuationFor({ originalTask: task }, document, nonce)
  const { traceContext } = spans
  // As the holder of the session: a process whose session was taken over opens nothing.
  const request = {
    ...held.working,
    targetAgent: to,
    flags: ['delegated'] as const,
    child: { originalTask: task },
    backend: runtime.backend,
    continuation: joinedPrompt([delegationNote(fromAgent, to), opening]),
    nonce,
    ...defined({ reason, document, model, traceContext }),
  }
  const opened = await run.retryThroughOutage((named) => deps.handoffs.openThread({ ...request, ...named }))
  if (!opened.ok) {
    const message = `The work is not delegated to ${inQuotes(to)}: ${describeRefusal(opened.error)}`
    run.news.emit({ type: 'run:warning', code: 'thread.refused', message })
    return
  }
  const { handoff, session: first, conversation } = opened.value
  const about = { handoffId: handoff.id, fromAgent, toAgent: to, threadId: conversation.id }
  run.news.emit({ type: 'thread:start', ...about, task })
  run.threads.start({ handoff, session: first })
}
