import { defined } from '../kernel/defined.ts'
import type { UsageTotals } from '../window/usage-reading.ts'
import type { CheckpointReview } from './checkpoint-review.ts'
import type { CheckpointSection } from './checkpoint-section.ts'
import type { StatementStanding } from './checkpoint-statement.ts'

/** The possible outcomes of asking for a checkpoint. */
export const CHECKPOINT_OUTCOMES = ['kept', 'missing', 'failed', 'timed_out', 'skipped'] as const

/** The outcome of asking for a checkpoint. */
export type CheckpointOutcome = (typeof CHECKPOINT_OUTCOMES)[number]

/** Facts about a checkpoint beside its text, kept with the handoff. */
export interface CheckpointFacts {
  readonly outcome: CheckpointOutcome
  /** Why there is none. */
  readonly reason?: string
  /** How many characters the agent wrote, and whether all of them were passed on. */
  readonly characters?: number
  readonly isCut?: boolean
  readonly sections?: readonly CheckpointSection[]
  /** How many statements cite a tool call on record, none, or one that is not on record, and how many need none. */
  readonly statements?: Readonly<Record<StatementStanding, number>>
  /** How often it was asked for, when that was more than once. */
  readonly attempts?: number
  /** The usage of asking. */
  readonly totals?: UsageTotals
}

/** The facts to keep of a checkpoint that was written. */
export const factsOfReview = (review: CheckpointReview, totals?: UsageTotals): CheckpointFacts => {
  const { characters, isCut, sections, statements } = review
  const counts = { cited: 0, uncited: 0, miscited: 0, exempt: 0 }
  for (const { standing } of statements) counts[standing] += 1
  return defined({ outcome: 'kept' as const, characters, isCut, sections, statements: counts, totals })
}
