import type { ProcessFate, ProcessIdentity } from '../domain/process-identity.ts'

/**
 * Ends what a runner that is gone has left at work. Every implementation keeps this promise: a process whose identity does
 * not agree is never touched.
 */
export interface AgentProcesses {
  end(process: ProcessIdentity): Promise<ProcessFate>
}
