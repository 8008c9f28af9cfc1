import type { LookBackAnswer } from './look-back.ts'

/** An answer as text for an agent, bounded in characters whatever the answer. */
export const lookBackText = (answer: LookBackAnswer): string => JSON.stringify(answer).slice(0, 12_000)
