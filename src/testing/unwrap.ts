import { describeRefusal, type Refusal } from '../domain/refusal.ts'
import type { Result } from '../domain/result.ts'

/**
 * The answer of a command that must have been allowed.
 *
 * @throws Error with the refusal's sentence when it was not
 * @example
 * ```ts
 * await using batonpass = await createBatonpass()
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log(conversation.originalTask) // => Fix the flaky test
 * ```
 */
export const unwrap = <T>(result: Result<T, Refusal>): T => {
  if (result.ok) return result.value
  throw new Error(`refused (${result.error.code}): ${describeRefusal(result.error)}`)
}

/**
 * The refusal of a command that must not have been allowed.
 *
 * @throws Error when it was
 * @example
 * ```ts
 * await using batonpass = await createBatonpass()
 * console.log(refusal(await batonpass.handoffs.openConversation({ originalTask: ' ' })).code) // => input.blank
 * ```
 */
export const refusal = (result: Result<unknown, Refusal>): Refusal => {
  if (!result.ok) return result.error
  throw new Error(`was allowed, with ${JSON.stringify(result.value)}`)
}
