import { defined } from '../../../domain/kernel/defined.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { beginAnew } from '../open/open-run.ts'
import { noteUnsaidTask } from '../open/unsaid-task.ts'
import { type RunInProgress, runWorkspace } from '../run-in-progress.ts'
import type { Launcher } from '../work/launch.ts'
import { restartInstead, type SessionOutcome } from '../work/session-outcome.ts'

const REASON = 'Its runtime could not resume the session before it, and no longer has it.'

/**
 * Starts a fresh window from the record when a provider session could not be resumed because the runtime no longer has
 * it: the agent failed before its first answer, and the runtime does not report the session. A provider session that
 * the caller named is not replaced.
 *
 * @returns the launch or outcome instead; undefined when the outcome stands
 */
export const replaceLostSession = async <Message>(
  run: RunInProgress<Message>,
  { resumes }: Launcher<Message>,
  outcome: SessionOutcome,
): Promise<Launcher<Message> | SessionOutcome | undefined> => {
  const { request } = run
  const { working: held } = run.held
  const workspace = runWorkspace(run)
  const isFailed = outcome.type === 'over' && outcome.outcome === 'failed'
  if (resumes === undefined || !isFailed || request.resume !== undefined) return undefined
  const { progress } = held.session
  if (progress.turns > resumes.turns || (await request.runtime.has?.({ ...resumes, ...defined({ workspace }) }))) return
  // The lost session did not receive its prompt.
  await noteUnsaidTask(run)
  const followUp = { resumes: null, freshBecause: 'session_gone' } as const
  if (progress.turns > 0) {
    run.news.emit({ type: 'conversation:follow_up', sessionId: held.session.id, ...followUp })
    return restartInstead(run, REASON)
  }
  const failed = await run.retryThroughOutage((named) =>
    run.deps.handoffs.failSession({ ...held, reason: REASON, ...named }),
  )
  run.held.update(unwrap(failed))
  const { id: sessionId, state } = run.held.session
  run.news.emit({ type: 'session:end', sessionId, state, reason: REASON })
  return beginAnew(run, run.held.session, followUp)
}
