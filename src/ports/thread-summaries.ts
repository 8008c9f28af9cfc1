import type { ConversationId, HandoffId } from '../domain/kernel/ids.ts'
import type { Instant } from '../domain/kernel/instant.ts'
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
  readonly modelUsed: string
  readonly refinements: number
  readonly isEdited: boolean
  readonly timestamp: Instant
}

/** Narrows a list of summaries. */
export interface SummaryFilter {
  readonly agentName?: string
  readonly sourceThreadId?: ConversationId
  readonly since?: Instant
  readonly until?: Instant
}

/** Figures about accepted summaries, for one agent and model. */
export interface SummaryFigures {
  readonly agentName: string
  readonly modelUsed: string
  readonly summaries: number
  readonly edited: number
  readonly refinements: number
  readonly meanTokens: number
  readonly latest: Instant
}

/**
 * Mirrors accepted summaries. Not part of a decision: the record of a handoff is whole without it, and only this may fail.
 * Every implementation keeps these promises: keeping the summary of the same handoff again changes nothing; a list comes
 * newest first, in keyset pages; erasing a conversation's texts erases them here too.
 */
export interface ThreadSummaries {
  keep(summary: KeptSummary): Promise<void>
  list(filter: SummaryFilter, page: Page): Promise<Paged<KeptSummary>>
  figures(filter: SummaryFilter): Promise<readonly SummaryFigures[]>
}
