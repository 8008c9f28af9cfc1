/** The parts of a summary, in their order. */
export const SUMMARY_PARTS = ['Objective', 'Progress', 'Next Steps', 'Blockers', 'Key files'] as const

/** One part of a summary. */
export type SummaryPart = (typeof SUMMARY_PARTS)[number]

/** The name, in the place of a model's, of the summarizer that quotes the record. */
export const EXTRACTIVE = 'extractive'

/** The name, in the place of a model's, of a person who edits a summary. */
export const PERSON = 'person'

/** Aims of a summary in tokens: unless said otherwise, at least, and at most. Five parts have no room in less. */
export const SUMMARY_TOKENS = { usual: 300, least: 100, most: 2_000 } as const

/** Whether a summary can be asked for in so many tokens. */
export const isSummaryBudget = (tokens: number): boolean =>
  Number.isSafeInteger(tokens) && tokens >= SUMMARY_TOKENS.least && tokens <= SUMMARY_TOKENS.most

/** An answer of a summarizer, not yet within a budget. */
export interface WrittenSummary {
  readonly text: string
  /** The model that wrote it; `extractive` when none did. */
  readonly modelUsed: string
  /** Why the model that was asked did not write it, where that is so. */
  readonly fallbackReason?: string
}

/** A summary of a conversation, for the thread that follows it. */
export interface ThreadSummary extends WrittenSummary {
  /** Markdown: a heading for each part. */
  readonly text: string
  /** The same without markup, for lists and searches. */
  readonly plainText: string
  /** An estimate, within the budget it was made for. */
  readonly tokens: number
  /** The model that wrote it; `extractive` when none did, `person` when a person wrote it. */
  readonly modelUsed: string
  /** Why the model that was asked did not write it, where that is so. It is also said in the text. */
  readonly fallbackReason?: string
}
