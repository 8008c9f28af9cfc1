import type { MessageId } from './ids.ts'
import type { SequenceNumber } from './sequence.ts'

/** Points at one use of a tool: which call, of which tool, in which message. */
export interface ToolCallReference {
  /** The runtime's own name for the call, such as `toolu_01…`; not a UUID. */
  readonly callId: string
  readonly toolName: string
  readonly messageId: MessageId
  readonly sequenceNumber: SequenceNumber
}

/** What led to a handoff is the last of it: beyond this many, the oldest calls are left out. */
export const MAX_REFERENCED_TOOL_CALLS = 100
