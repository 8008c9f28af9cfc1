import { defined } from '../../../domain/kernel/defined.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import { beginAnew } from '../open/open-run.ts'
import { noteUnsaidTask } from '../open/unsaid-task.ts'
import { type RunInProgress, workspaceOf } from '../run-in-progress.ts'
import type { Launcher } from '../work/launch.ts'
import { restartInstead, type SessionOutcome } from '../work/session-outcome.ts'

const REASON = 'Its runtime could not resume the session before it, and no longer has it.'

/**
 * Starts fresh from the record when a session could not be resumed because its runtime no longer has it: it failed
 * before it said anything, and the runtime does not say that it is there. A session that the caller named is not replaced.
 *
 * @returns what to do instead; nothing when the outcome stands
 */
export const replaceLostSession = async <Message>(
  run: RunInProgress<Message>,
  { resumes }: Launcher<Message>,
  outcome: SessionOutcome,
): Promise<Launcher<Message> | SessionOutcome | undefined> => {
  const { request } = run
  const { working: held } = run.held
  const workspace = workspaceOf(run)
  const isFailed = outcome.type === 'over' && outcome.outcome === 'failed'
  if (resumes === undefined || !isFailed || request.resume !== undefined) return undefined
  const { progress } = held.session
  if (progress.turns > resumes.turns || (await request.runtime.has?.({ ...resumes, ...defined({ workspace }) }))) return
  // What it was to be told was not heard.
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
