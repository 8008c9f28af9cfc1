import type { AgentProcesses } from '../../ports/agent-processes.ts'
import { endLeftProcess } from '../../processes/left-process.ts'

/** The processes of the machine that we run on. */
export const nodeProcesses: AgentProcesses = { end: endLeftProcess }
