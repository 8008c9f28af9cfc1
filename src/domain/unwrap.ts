import type { Result } from './kernel/result.ts'
import { describeRefusal, type Refusal, type RefusalCode } from './refusal.ts'

/**
 * A refusal as an exception, for callers that cannot continue after a refusal.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const refused = await batonpass.handoffs.openConversation({ originalTask: ' ' })
 * try {
 *   unwrap(refused)
 * } catch (error) {
 *   if (error instanceof RefusedError) console.log(error.code) // => input.invalid
 * }
 * ```
 */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly code: RefusalCode
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(describeRefusal(refusal))
    this.code = refusal.code
    this.refusal = refusal
  }
}

/**
 * The answer of a command that must be allowed: for scripts and tests. Programs look at `ok` instead.
 *
 * @throws RefusedError with the refusal's code and sentence when it was not
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log(conversation.originalTask) // => Fix the flaky test
 * ```
 */
export const unwrap = <T>(result: Result<T, Refusal>): T => {
  if (result.ok) return result.value
  throw new RefusedError(result.error)
}
