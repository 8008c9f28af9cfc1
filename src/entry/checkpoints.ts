export { extractiveSummarizer, functionSummarizer } from '../adapters/summary/summarizers.ts'
export {
  type CheckpointRequest,
  checkpointPrompt,
  DEFAULT_CHECKPOINT_TEMPLATE,
} from '../domain/checkpoint/checkpoint-prompt.ts'
export { type CheckpointReview, type ReviewOptions, reviewCheckpoint } from '../domain/checkpoint/checkpoint-review.ts'
export { CHECKPOINT_SECTIONS, type CheckpointSection } from '../domain/checkpoint/checkpoint-section.ts'
export type { CheckpointStatement, StatementStanding } from '../domain/checkpoint/checkpoint-statement.ts'
export { type CheckpointReply, checkpointIn } from '../domain/checkpoint/checkpoint-text.ts'
export {
  type ContinuationOpening,
  type ContinuationParts,
  continuationPrompt,
  DEFAULT_CONTINUATION_TEMPLATE,
  minimalContinuation,
} from '../domain/checkpoint/continuation.ts'
export {
  type CarriedWords,
  type ChosenWords,
  choosePersonWords,
  type PersonMessage,
  personWordsBlock,
  personWordsBudget,
} from '../domain/checkpoint/person-words.ts'
export { type RecapParts, recapOf } from '../domain/checkpoint/recap.ts'
export { DEFAULT_SOFT_LANDING } from '../domain/run/soft-landing-text.ts'
