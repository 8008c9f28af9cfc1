import type { AgentSessionId, ConversationId, HolderToken } from '../domain/kernel/ids.ts'
import type { Instant } from '../domain/kernel/instant.ts'
import type { ProcessIdentity } from '../domain/session/process-identity.ts'
import type { Page, Paged } from './page.ts'

/** A session whose holder was not heard of in time. */
export interface ExpiredLease {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly expiredAt: Instant
}

/** A session whose holder is still to be heard of, or was to be. */
export interface HeldLease {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  /** By the store's own clock. */
  readonly until: Instant
  /** The processes that were last launched for the session, by this holder or by one before it. */
  readonly processes: readonly ProcessIdentity[]
  /** The process that holds the session, where it said so: see `LeaseAsked`. */
  readonly runner?: ProcessIdentity
}

/**
 * Until when the holders of sessions are to be heard of, by the store's own clock. Leases are granted through the unit of
 * work, with the session they belong to, and end with it.
 *
 * Every implementation keeps these promises:
 * - `renew` lets a lease last from now; it answers false, and changes nothing, when the holder no longer has it;
 * - the `runner` is the one that the lease was granted with, and no other, until it is granted again;
 * - `keepProcesses` is kept when the lease is renewed or taken over, and ends with the lease;
 * - `listExpired` and `listRunning` give only sessions that have the baton: what is over, or paused by hand, waits for nobody.
 */
export interface SessionLeases {
  renew(session: AgentSessionId, holder: HolderToken, leaseMs: number): Promise<boolean>
  /** Says which processes work a session now, in the place of what was said before; false as for `renew`. */
  keepProcesses(session: AgentSessionId, holder: HolderToken, processes: readonly ProcessIdentity[]): Promise<boolean>
  find(session: AgentSessionId): Promise<HeldLease | undefined>
  /** Those of sessions with the baton that have not expired yet, soonest first. */
  listRunning(page: Page): Promise<Paged<HeldLease>>
  /** Longest expired first. */
  listExpired(page: Page): Promise<Paged<ExpiredLease>>
}
