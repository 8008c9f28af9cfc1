import type { AgentSessionId } from '../domain/kernel/ids.ts'
import type { ContextMonitor } from '../domain/window/context-monitor.ts'

/** Reads what is watched of each session's window. Written through the unit of work, in the commit it belongs to. */
export interface ContextMonitorPort {
  find(session: AgentSessionId): Promise<ContextMonitor | undefined>
}
