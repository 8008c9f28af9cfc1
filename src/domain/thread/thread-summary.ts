/** The parts of a summary, in their order. */
export const SUMMARY_PARTS = ['Objective', 'Progress', 'Next Steps', 'Blockers', 'Key files'] as const

/** A summary of a conversation, for the thread that follows it. */
export interface ThreadSummary {
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
