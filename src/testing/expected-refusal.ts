import type { Result } from '../domain/kernel/result.ts'
import type { Refusal } from '../domain/refusal.ts'

/**
 * The refusal of a command that must not have been allowed.
 *
 * @throws Error when it was
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * console.log(refusal(await batonpass.handoffs.openConversation({ originalTask: ' ' })).code) // => input.invalid
 * ```
 */
export const refusal = (result: Result<unknown, Refusal>): Refusal => {
  if (!result.ok) return result.error
  throw new Error(`was allowed, with ${JSON.stringify(result.value)}`)
}
