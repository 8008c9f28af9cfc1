/** Is told when there may be something to take up. It must not throw. */
export interface WakeUpListener {
  /** A handoff was stored for this agent. Without a name anything may have been stored: some wake-ups were missed. */
  wake(agent?: string): void
  /** Whether wake-ups arrive from now on, and if not, why. Told when it is first known, and whenever it changes. */
  tell(state: WakeUpState): void
}

/** Whether wake-ups arrive. */
export type WakeUpState = { readonly isHeard: true } | { readonly isHeard: false; readonly reason: string }

/**
 * Wakes those who wait for handoffs, wherever the handoff was stored. A wake-up only saves time: it may come too early,
 * twice or never, so a waiting process must look now and then all the same.
 *
 * Every implementation keeps these promises:
 * - one wake-up for each commit that stores a handoff to another agent, none before the commit and none without it;
 * - no wake-up for turns, restarts or anything else, because wake-ups may keep commits waiting for each other;
 * - `isHeard` is told only when it was tried, and taken back when it no longer holds;
 * - listening never fails, never keeps the process alive, and ends with the store.
 */
export interface WakeUps {
  /** Listens until the answer is disposed of. */
  listen(listener: WakeUpListener): Disposable
}
