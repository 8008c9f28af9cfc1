import type { AgentSessionId, ConversationId, HolderToken } from '../domain/kernel/ids.ts'
import type { AgentSession } from '../domain/session/agent-session.ts'
import type { SessionFilter } from './history-filters.ts'
import type { Page, Paged } from './page.ts'

/**
 * Keeps sessions. At most one per conversation has the baton: it is active, or held by an open handoff.
 * A session that is not in a state lacks that state's facts: no end fields unless it ended, no `heldBy` unless held.
 */
export interface AgentSessionRepository {
  find(id: AgentSessionId): Promise<AgentSession | undefined>
  /** Whether this is the token of the session's current holder. */
  isHeldBy(id: AgentSessionId, holder: HolderToken): Promise<boolean>
  findActive(conversation: ConversationId): Promise<AgentSession | undefined>
  /** The session that has the baton: active, or held by an open handoff. */
  findBaton(conversation: ConversationId): Promise<AgentSession | undefined>
  /** The one with the highest epoch, whatever its state. */
  findLatest(conversation: ConversationId): Promise<AgentSession | undefined>
  /** By epoch. */
  listForConversation(conversation: ConversationId, page: Page): Promise<Paged<AgentSession>>
  /** Across conversations, by the time they were started. */
  list(filter: SessionFilter, page: Page): Promise<Paged<AgentSession>>
  /** Oldest first; a provider session may have been worked by more than one. */
  findByProviderSession(providerSessionId: string): Promise<readonly AgentSession[]>
}
