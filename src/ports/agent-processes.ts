import type { ProcessFate, ProcessIdentity } from '../domain/session/process-identity.ts'

/**
 * Ends what a runner that is gone has left at work, and tells whether it is gone. Every implementation keeps these
 * promises: a process whose identity does not agree is never touched, and one that may live is never called gone.
 */
export interface AgentProcesses {
  end(process: ProcessIdentity): Promise<ProcessFate>
  /** The identity of this very process, under a mark of its own for each call; nothing where processes cannot be told apart. */
  self?(): ProcessIdentity | undefined
  /** Whether a process has certainly ended. False also when that cannot be known from here. */
  isGone?(process: ProcessIdentity): boolean
}
