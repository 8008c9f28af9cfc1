import type { AgentSessionId, SignalId } from '../domain/kernel/ids.ts'
import type { Instant } from '../domain/kernel/instant.ts'
import type { ContextSignal } from '../domain/session/context-signal.ts'
import type { Page, Paged } from './page.ts'

/**
 * Keeps the signals of each session until the session has acknowledged them. Signals are queued through the unit of work, in
 * the commit they belong to.
 *
 * A session also gets the signals of earlier sessions of its conversation that have handed off: the successor is the
 * one to know.
 *
 * Every implementation keeps these promises:
 * - `waiting` gives every urgent signal that is queued, oldest first, then the oldest sequential one and no other;
 * - `acknowledge` settles each signal that is waiting for that recipient once, however often and by however many it is called, and
 *   answers with how many it settled; one that was withdrawn stays withdrawn.
 */
export interface SignalQueue {
  find(id: SignalId): Promise<ContextSignal | undefined>
  waiting(recipient: AgentSessionId): Promise<readonly ContextSignal[]>
  acknowledge(recipient: AgentSessionId, signals: readonly SignalId[], at: Instant): Promise<number>
  /** Every signal addressed to a session, whatever became of it, oldest first. */
  listFor(recipient: AgentSessionId, page: Page): Promise<Paged<ContextSignal>>
}
