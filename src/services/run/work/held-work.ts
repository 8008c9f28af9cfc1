import { keptName } from '../../../domain/kernel/cut-text.ts'
import { isOvertaken } from '../../../domain/refusal.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** The answer, unless somebody else has the session now. */
export const mine = <T>(
  { held }: Pick<RunInProgress, 'held'>,
  answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RefusedError['refusal'] },
): T => {
  if (answer.ok) return answer.value
  if (isOvertaken(answer.error)) throw held.overtaken()
  throw new RefusedError(answer.error)
}

/** Keeps the runtime's own name of the session, as soon as it is known. */
export const attachTo = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'retryThroughOutage'>,
  named: string | undefined,
): Promise<void> => {
  const providerSessionId = keptName(named)
  const { held, deps } = run
  const { state, progress, providerSessionId: known } = held.session
  // What was launched again before anything was recorded goes by its new name.
  const isSettled = known === providerSessionId || (known !== undefined && progress.turns > 0)
  if (providerSessionId === undefined || isSettled || state !== 'active') return
  const request = { ...held.working, providerSessionId }
  run.held.update(
    mine(run, await run.retryThroughOutage((command) => deps.handoffs.attachSession({ ...request, ...command }))),
  )
}
