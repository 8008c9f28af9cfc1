import type { ConversationId, HandoffId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { Page, Paged } from './page.ts'

/** An accepted summary, as it is kept for later questions. */
export interface KeptSummary {
  readonly handoffId: HandoffId
  readonly sourceThreadId: ConversationId
  readonly targetThreadId: ConversationId
  /** The agent whose thread was summarised. */
  readonly agentName: string
  readonly summary: string
  readonly plainText: string
  readonly tokens: number
  /** The model that wrote it; `extractive` when none did, `person` when a person wrote it. */
  readonly modelUsed: string
  readonly refinements: number
  readonly isEdited: boolean
  readonly timestamp: Instant
}

/** Which summaries to list or to count. A summary must match every field that is given. */
export interface SummaryFilter {
  readonly agentName?: string
  readonly sourceThreadId?: ConversationId
  /** Accepted then or later. */
  readonly since?: Instant
  /** Accepted before then. */
  readonly until?: Instant
}

/** Figures about accepted summaries, for one agent and model. */
export interface SummaryFigures {
  readonly agentName: string
  readonly modelUsed: string
  readonly summaries: number
  readonly edited: number
  readonly refinements: number
  /** Rounded. */
  readonly meanTokens: number
  readonly latest: Instant
}

/** Figures are counted over so many summaries at most, the newest that match. */
export const COUNTED_SUMMARIES = 10_000

/**
 * Mirrors accepted summaries. Not part of a decision: the record of a handoff is whole without it, and only this may fail.
 * Every implementation keeps these promises:
 * - keeping the summary of the same handoff again changes nothing; without its handoff there is nothing to keep it with,
 *   and `keep` rejects;
 * - a list comes newest first, in keyset pages, and no page costs more as summaries are added;
 * - figures are counted over the newest {@link COUNTED_SUMMARIES} that match, by agent and model;
 * - where texts can be erased, erasing the document of a handoff erases its summary here too.
 */
export interface ThreadSummaries {
  keep(summary: KeptSummary): Promise<void>
  list(filter: SummaryFilter, page: Page): Promise<Paged<KeptSummary>>
  /** By agent, and then by model. */
  figures(filter: SummaryFilter): Promise<readonly SummaryFigures[]>
}
