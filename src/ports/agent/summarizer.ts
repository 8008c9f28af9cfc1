import type { SummarySource } from '../../domain/summary/summary-source.ts'
import type { WrittenSummary } from '../../domain/summary/thread-summary.ts'

export type { WrittenSummary } from '../../domain/summary/thread-summary.ts'

/** Everything that a summary is made of, and the signal that ends the asking. */
export interface SummaryMaterial extends SummarySource {
  readonly signal: AbortSignal
}

/** Writes summaries. Rejects when it cannot; an answer over the budget is cut by the caller. */
export interface Summarizer {
  /** Its name for people and records: the model, or `extractive`. */
  readonly name: string
  summarize(material: SummaryMaterial): Promise<WrittenSummary>
}
