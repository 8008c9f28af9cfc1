import { HOOK_FAILURE_CODES, type HookError, type HookResult } from '../hooks/hook-result.ts'
import { HOOK_TYPES } from '../hooks/hook-settings.ts'
import { amount, type Check, objectOf, oneOf, optional, trueOrFalse, wholeNumber, wrong } from './check.ts'
import { messageText, name } from './words.ts'

type AnyResult = Omit<HookResult, 'ok'> & { readonly ok: boolean; readonly error?: HookError }

const anyResult = objectOf<AnyResult>({
  name,
  type: oneOf(...HOOK_TYPES),
  ok: trueOrFalse,
  durationMs: amount(0, Number.MAX_SAFE_INTEGER),
  output: messageText,
  errorOutput: optional(messageText),
  exitCode: optional(wholeNumber(-2_147_483_648, 2_147_483_647)),
  httpStatus: optional(wholeNumber(0, 999)),
  error: optional(objectOf<HookError>({ code: oneOf(...HOOK_FAILURE_CODES), message: messageText })),
})

/** How one hook went. One that failed says why. */
export const hookResult: Check<HookResult> = (value, field, problems) => {
  const read = anyResult(value, field, problems)
  if (read?.ok === false && read.error === undefined) return wrong('it failed and does not say why', field, problems)
  return read as HookResult
}
