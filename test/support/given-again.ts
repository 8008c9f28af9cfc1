import type { Answer } from '../../src/domain/decision.ts'

/**
 * An answer as a repeated command gives it: the token stays with the call that made it, and who has none is told to take
 * over. A turn is answered with the token that it was recorded with, however often.
 */
export const givenAgain = <A extends Answer>(answer: A): Answer => {
  if (answer.holder === undefined || answer.turns !== undefined) return answer
  const { holder: _, ...rest } = answer
  return { ...rest, next: 'take_over' } as Answer
}
