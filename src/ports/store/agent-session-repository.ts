import type { AgentSessionId, ConversationId, HolderToken } from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { SessionFilter } from './history-filters.ts'
import type { Page, Paged } from './page.ts'
import type { UnfinishedPage } from './unfinished-session.ts'

/**
 * Keeps sessions. At most one per conversation has the baton: it is active, or held by an open handoff.
 * A session that is not in a state lacks that state's facts: no end fields unless it ended, no `heldBy` unless held.
 */
export interface AgentSessionRepository {
  find(id: AgentSessionId): Promise<AgentSession | undefined>
  /** Whether this is the token of the session's current holder. A store has its digest only. */
  isHeldBy(id: AgentSessionId, holder: HolderToken): Promise<boolean>
  findActive(conversation: ConversationId): Promise<AgentSession | undefined>
  /** The session that has the baton: active, or held by an open handoff. */
  findBaton(conversation: ConversationId): Promise<AgentSession | undefined>
  /** The session with the highest epoch, in any state. */
  findLatest(conversation: ConversationId): Promise<AgentSession | undefined>
  /** By epoch. */
  listForConversation(conversation: ConversationId, page: Page): Promise<Paged<AgentSession>>
  /** Across conversations, by the time they were started. */
  list(filter: SessionFilter, page: Page): Promise<Paged<AgentSession>>
  /**
   * Those of any conversation that are active, paused or held, the newest first, each with its monitor, its lease and how
   * many signals wait for it. Costs what the page costs, however long the history is.
   */
  listUnfinished(page: Page): Promise<UnfinishedPage>
  /** Oldest first; several sessions may have run on one provider session. */
  findByProviderSession(providerSessionId: string): Promise<readonly AgentSession[]>
}
