import { SESSION_MODES } from '../../domain/run/session-settings.ts'
import { count, duration, LONGEST_WORK_MS, remaining, section, usedOrNever, word } from './values.ts'

/** Keys about sessions, of a whole configuration or of one agent. */
export const sessionSchema = section({
  context_threshold: remaining.optional(),
  context_handoff_threshold: remaining.optional(),
  context_restart_threshold: usedOrNever.optional(),
  max_handoffs_per_job: count(0, 'restarts').optional(),
  mode: word(SESSION_MODES).optional(),
  timeout: duration(LONGEST_WORK_MS).optional(),
})
