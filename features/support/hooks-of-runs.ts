import assert from 'node:assert/strict'
import type { HookFunction, HookMoment, HookSettings } from '../../src/domain/hooks/hook-settings.ts'
import type { HookPayload, SessionStartPayload, ThresholdPayload } from '../../src/ports/agent/hook-payload.ts'

/** The words scenarios have for when a hook is called. */
export const MOMENTS: Readonly<Record<string, HookMoment>> = {
  'at the threshold': 'on_context_threshold',
  'at the start of a session': 'on_session_start',
  'after a handoff': 'after_handoff',
  'after a run': 'after_run',
  'on an error': 'on_error',
}

/** The words for a moment. */
export const inWords = (moment: HookMoment): string =>
  Object.entries(MOMENTS).find(([, known]) => known === moment)?.[0] ?? moment

/** A hook that does this when it is called. */
export const hookAt = (moment: HookMoment, run: HookFunction, shouldContinueOnError = true): HookSettings => ({
  type: 'function',
  moment,
  shouldContinueOnError,
  timeoutMs: 5_000,
  run,
})

/** What fails. */
export const failing: HookFunction = () => {
  throw new Error('No licence')
}

/** Says where the work is done, as it was told. */
export const sayingWhere: HookFunction = (payload) => {
  const { working_directory, worktree_path, branch_name } = (payload as HookPayload).session
  return `Hooks run in ${working_directory}, in the worktree ${worktree_path} on ${branch_name}.`
}

/** Lets a session run on if it was told exactly this of the window and of the place; anything else is a failure. */
export const continuingWhenTold =
  (place: readonly string[], shares: readonly number[]): HookFunction =>
  (payload) => {
    const { context, session } = payload as ThresholdPayload
    assert.deepEqual([session.working_directory, session.worktree_path], place)
    assert.deepEqual([context.usage_percent, context.remaining_percent], shares)
    return 'continue'
  }

/** Says what came before the session that is about to start, as it was told. */
export const sayingWhatCameBefore: HookFunction = (payload) => {
  const { is_continuation, previous_session_id, handoff_count } = (payload as SessionStartPayload).session
  return is_continuation ? `Restart ${handoff_count}, after session ${previous_session_id}.` : 'The beginning.'
}
