import type { HookResult } from '../../domain/hooks/hook-result.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import type { HookPayload } from './hook-payload.ts'

/** Options of one call of a hook. */
export interface HookOptions {
  /** Ends the hook early. */
  readonly signal?: AbortSignal
}

/**
 * Calls one hook, without looking at its `on_events` and `when`. Every implementation keeps these promises:
 * - it never rejects: every error is a result;
 * - it ends within the hook's timeout, or shortly after it, and no process that it started is left running;
 * - the hook is given the payload and nothing else of the conversation;
 * - no result holds a secret the hook was configured with, nor an output without bounds.
 */
export interface HookRunner {
  run(hook: HookSettings, payload: HookPayload, options?: HookOptions): Promise<HookResult>
}
