import type { AgentProcesses } from '../../ports/agent/agent-processes.ts'
import { endLeftProcess, hasEnded, ownIdentity } from '../../processes/left-process.ts'

/** The processes of the machine that we run on. */
export const nodeProcesses: AgentProcesses = { end: endLeftProcess, self: ownIdentity, isGone: hasEnded }
