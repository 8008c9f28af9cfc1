/**
 * Where a process of an agent runs, so that the process that takes its session over can end it, and no other
 * process. A pid alone is no name: it is given again.
 */
export interface ProcessIdentity {
  readonly host: string
  /** The machine's start. A process does not outlive it. */
  readonly bootId: string
  /** Pids mean something only inside their namespace; a sandbox or container has one of its own. */
  readonly pidNamespace: string
  readonly userId: number
  /** A word that only this launch has in its environment; what it starts inherits it. */
  readonly mark: string
  /** The process, which leads a group of its own; absent where somebody else starts it. */
  readonly leader?: {
    readonly pid: number
    /** When it began, in the machine's own terms: another one under the same pid differs here. */
    readonly startTime: string
  }
}

/** Who holds a session, for how long unheard of, and where; absent parts mean for ever and nobody knows. */
export interface LeaseAsked {
  /** How long the holder may be silent before others may take the session over. */
  readonly leaseMs?: number
  /**
   * The process that holds the session, all the time that the lease lasts: once it is known to be gone, nobody waits for
   * the lease. Only for a token that never leaves its process. Needs `leaseMs`.
   */
  readonly runner?: ProcessIdentity
}

/** The fate of an orphaned process. */
export type ProcessFate =
  /** It was still at work, and was ended. */
  | 'ended'
  /** It had ended by itself. */
  | 'gone'
  /** It is on another machine, in another container or of another user: nobody here can tell, or end it. */
  | 'elsewhere'
  /** It does not end, whatever it is told. */
  | 'remains'
