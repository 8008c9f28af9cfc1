import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'

/**
 * Reads the monitor of each session's window. Monitors are written through the unit of work, in the commit they
 * belong to.
 */
export interface ContextMonitorPort {
  find(session: AgentSessionId): Promise<ContextMonitor | undefined>
}
