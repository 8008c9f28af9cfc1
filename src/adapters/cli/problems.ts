import { describeRefusal, type Refusal } from '../../domain/refusal.ts'
import type { Result } from '../../domain/result.ts'

/** The command line could not be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A rule said no, and the command cannot go on without a yes. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(describeRefusal(refusal))
    this.refusal = refusal
  }
}

/** The answer; a refusal ends the command. */
export const answerOf = <T>(result: Result<T, Refusal>): T => {
  if (result.ok) return result.value
  throw new RefusedError(result.error)
}
