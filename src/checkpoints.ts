export { type CheckpointRequest, checkpointPrompt, DEFAULT_CHECKPOINT_TEMPLATE } from './domain/checkpoint-prompt.ts'
export { type CheckpointReview, type ReviewOptions, reviewCheckpoint } from './domain/checkpoint-review.ts'
export { CHECKPOINT_SECTIONS, type CheckpointSection } from './domain/checkpoint-section.ts'
export type { CheckpointStatement, StatementStanding } from './domain/checkpoint-statement.ts'
export { type CheckpointReply, checkpointIn } from './domain/checkpoint-text.ts'
export {
  type ContinuationOpening,
  type ContinuationParts,
  continuationPrompt,
  DEFAULT_CONTINUATION_TEMPLATE,
  minimalContinuation,
} from './domain/continuation.ts'
export { type ChosenWords, choosePersonWords, type PersonMessage, personWordsBudget } from './domain/person-words.ts'
export { type CarriedWords, personWordsBlock } from './domain/person-words-text.ts'
export { type RecapParts, recapOf } from './domain/recap.ts'
export { DEFAULT_SOFT_LANDING } from './domain/soft-landing.ts'
