import type { ProcessFate, ProcessIdentity } from '../../domain/session/process-identity.ts'

/**
 * Ends the agents that a runner started before it ended, and tells whether a runner has ended. Every implementation
 * keeps these promises: a process whose identity does not match is never touched, and a process that may live is
 * never reported as ended.
 */
export interface AgentProcesses {
  end(process: ProcessIdentity): Promise<ProcessFate>
  /**
   * The identity of this process, with a new mark for each call; absent on systems where processes cannot be told
   * apart.
   */
  self?(): ProcessIdentity | undefined
  /** Whether a process has certainly ended. False also when that cannot be known from here. */
  isGone?(process: ProcessIdentity): boolean
}
