import type { ContextMonitor } from '../domain/context-monitor.ts'
import type { AgentSessionId } from '../domain/ids.ts'

/** Reads what is watched of each session's window. Written through the unit of work, in the commit it belongs to. */
export interface ContextMonitorPort {
  find(session: AgentSessionId): Promise<ContextMonitor | undefined>
}
