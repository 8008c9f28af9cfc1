import type { AgentSessionId, ConversationId, HolderToken } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Page, Paged } from './page.ts'

/** A session whose holder was not heard of in time. */
export interface ExpiredLease {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly expiredAt: Instant
}

/**
 * Until when the holders of sessions are to be heard of, by the store's own clock. Leases are granted through the unit of
 * work, with the session they belong to, and end with it.
 *
 * Every implementation keeps these promises:
 * - `renew` lets a lease last from now; it answers false, and changes nothing, when the holder no longer has it;
 * - `listExpired` gives only sessions that have the baton: what is over, or paused by hand, waits for nobody.
 */
export interface SessionLeases {
  renew(session: AgentSessionId, holder: HolderToken, leaseMs: number): Promise<boolean>
  /** Longest expired first. */
  listExpired(page: Page): Promise<Paged<ExpiredLease>>
}
