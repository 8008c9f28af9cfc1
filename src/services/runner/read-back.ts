import type { HandoffMetadata } from '../../domain/handoff.ts'
import { describeLimit } from '../../domain/restart-budget.ts'
import { OnRecord } from './on-record.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { type Leaving, TurnDesk } from './turn-desk.ts'
import type { SessionOutcome } from './work-session.ts'

/**
 * Reads back from the runtime's own transcript what an agent did and the record lacks, once its session is held by this
 * run. It goes the way of everything that an agent says: redacted, turn by turn, and a turn that fills the window leads to
 * a restart.
 *
 * @returns how the session is left, when what was read back says so
 */
export const readBackWork = async (
  run: RunInProgress,
  providerSessionId: string,
): Promise<SessionOutcome | undefined> => {
  const leaving = await readBack(run, providerSessionId)
  if (leaving?.type === 'restart') return leaving
  if (leaving === undefined) return undefined
  return { type: 'over', outcome: 'exhausted', reason: describeLimit(leaving.limit, run.conversation.restartBudget) }
}

/** As {@link readBackWork}, of a session that is being left: what the record lacks belongs to the turn that led to it. */
export const readBackLeft = async (run: RunInProgress, handoff: HandoffMetadata): Promise<void> => {
  const { providerSessionId } = run.held.session
  // Its agent has left what it leaves, and what was said before is on record.
  if (providerSessionId === undefined || handoff.checkpoint !== undefined) return
  await readBack(run, providerSessionId, { type: 'restart', handoff })
}

const readBack = async (
  run: RunInProgress,
  providerSessionId: string,
  leaving?: Leaving,
): Promise<Leaving | undefined> => {
  const { runtime } = run.request
  if (runtime.transcript === undefined || runtime.backend !== run.held.session.backend) return undefined
  const known = await run.steadily(() => OnRecord.of(run))
  const desk = new TurnDesk(run, { prompt: '', isNew: false, ...(leaving !== undefined && { leaving }) })
  const { workspace } = run
  const session = { providerSessionId, ...(workspace !== undefined && { workspace }) }
  let isBehind = false
  for await (const step of runtime.transcript(session)) {
    run.throwIfStopped()
    const missing = known.missingOf(step)
    isBehind ||= missing !== undefined
    // Some runtimes say what a request used after its answer. Before anything is missing, that was heard too.
    const isAboutMissing = isBehind && step.texts.length === 0
    if (missing !== undefined || isAboutMissing) await desk.take(missing ?? step)
    else desk.skip(step)
  }
  await desk.settle()
  return desk.leaving === leaving ? undefined : desk.leaving
}
