import type { HookError, HookFailureCode, HookTrace } from '../../domain/hooks/hook-result.ts'

/** How a call of a hook ended; with an error it failed. */
export interface Outcome extends HookTrace {
  readonly error?: HookError
}

/** A call that failed. */
export const failed = (code: HookFailureCode, message: string, trace: Partial<HookTrace> = {}): Outcome => ({
  output: '',
  ...trace,
  error: { code, message },
})
