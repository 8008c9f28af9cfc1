import type { AgentSessionId, ConversationId, HolderToken } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import type { Page, Paged } from './page.ts'

/** A session whose lease has expired. */
export interface ExpiredLease {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly expiredAt: Instant
}

/** A session with a lease, expired or not. */
export interface HeldLease {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  /** By the store's own clock. */
  readonly until: Instant
  /** The processes that were last launched for the session, by this holder or by one before it. */
  readonly processes: readonly ProcessIdentity[]
  /** The process that holds the session, where it said so: see `LeaseAsked`. */
  readonly runner?: ProcessIdentity
  /** Parts that could not be read: somebody wrote what no version of this program writes. They are left out. */
  readonly broken?: readonly ('processes' | 'runner')[]
}

/**
 * The leases of sessions: the time until which a holder must renew its lease, by the store's own clock. Leases are
 * granted through the unit of work, with the session they belong to, and end with it.
 *
 * Every implementation keeps these promises:
 * - `renew` extends a lease from now on; it answers false, and changes nothing, when the holder no longer has it;
 * - the `runner` is the one that the lease was granted with, and no other, until it is granted again;
 * - `keepProcesses` is kept when the lease is renewed or taken over, and ends with the lease;
 * - `listExpired` and `listRunning` give only sessions that have the baton, not those that have ended or were paused
 *   by hand.
 */
export interface SessionLeases {
  /** Takes the token itself, as it is shown: a store digests it and compares it with the digest that it keeps. */
  renew(session: AgentSessionId, holder: HolderToken, leaseMs: number): Promise<boolean>
  /** Stores which processes work in a session now, and replaces those stored before; false as for `renew`. */
  keepProcesses(session: AgentSessionId, holder: HolderToken, processes: readonly ProcessIdentity[]): Promise<boolean>
  find(session: AgentSessionId): Promise<HeldLease | undefined>
  /** Those of sessions with the baton that have not expired yet, soonest first. */
  listRunning(page: Page): Promise<Paged<HeldLease>>
  /** Longest expired first. */
  listExpired(page: Page): Promise<Paged<ExpiredLease>>
}
