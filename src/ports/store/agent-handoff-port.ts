import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { AgentSessionId, ConversationId, HandoffId } from '../../domain/kernel/ids.ts'
import type { HandoffFilter } from './history-filters.ts'
import type { Page, Paged } from './page.ts'

/**
 * Keeps handoffs. It stores decisions; it never makes them.
 *
 * Every handoff names a prior turn and tool calls that exist in its conversation, in order. At most one per source
 * session is open; threads are never open. A handoff has a target session only once it is completed.
 */
export interface AgentHandoffPort {
  find(id: HandoffId): Promise<HandoffMetadata | undefined>
  findOpenFor(source: AgentSessionId): Promise<HandoffMetadata | undefined>
  /** Handoffs that an agent may claim now, by the store's clock: never claimed, or past the deadline. Oldest first. */
  listPendingFor(targetAgent: string, page: Page): Promise<Paged<HandoffMetadata>>
  /** Oldest first. */
  listForConversation(conversation: ConversationId, page: Page): Promise<Paged<HandoffMetadata>>
  /** Across conversations, by the time they were initiated. */
  list(filter: HandoffFilter, page: Page): Promise<Paged<HandoffMetadata>>
}
