import type { TraceContext } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** Begins to watch the session that a run holds now. */
export const beginSpan = (run: RunInProgress, cameFrom?: TraceContext): void => {
  const { id: sessionId, conversationId, epoch, agentName, backend, model } = run.held.session
  const facts = defined({ conversationId, sessionId, epoch, agentName, backend, model, cameFrom })
  run.span = run.deps.telemetry?.session(facts)
}
