import type { AgentSessionId, SignalId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import type { Page, Paged } from './page.ts'

/**
 * Keeps the signals of each session until the session has acknowledged them. Signals are queued through the unit of work, in
 * the commit they belong to.
 *
 * A session also gets the signals of earlier sessions of its conversation that have handed off, because it is their
 * successor.
 *
 * Every implementation keeps these promises:
 * - `waiting` gives every urgent signal that is queued, oldest first, then the oldest sequential one and no other;
 * - `acknowledge` settles each signal that is waiting for that recipient once, however many callers call it how
 *   often, and answers with how many it settled; a withdrawn signal stays withdrawn.
 */
export interface SignalQueue {
  find(id: SignalId): Promise<ContextSignal | undefined>
  waiting(recipient: AgentSessionId): Promise<readonly ContextSignal[]>
  acknowledge(recipient: AgentSessionId, signals: readonly SignalId[], at: Instant): Promise<number>
  /** Every signal addressed to a session, in any state, oldest first. */
  listFor(recipient: AgentSessionId, page: Page): Promise<Paged<ContextSignal>>
}
