import type { DomainEvent } from '../kernel/event.ts'
import type { AgentSessionId, ConversationId, SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { ToolCall } from '../turn/tool-call.ts'
import type { AgentSession, ContextWindow } from './agent-session.ts'

/** The occasion of a snapshot. */
export const SNAPSHOT_TYPES = ['session_start', 'handoff_initiated', 'checkpoint', 'truncation', 'on_demand'] as const

/** The occasion of a snapshot. */
export type SnapshotType = (typeof SNAPSHOT_TYPES)[number]

/** A snapshot as it is stored: the figures, and the range that says which tool calls were visible. */
export interface SnapshotRecord extends ContextWindow {
  readonly id: SnapshotId
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly type: SnapshotType
  readonly capturedAt: Instant
}

/** The content of a window at a moment. */
export interface ContextWindowSnapshot extends SnapshotRecord {
  /** Found by range when it is read: messages never change, so the answer never does. */
  readonly visibleToolCalls: readonly ToolCall[]
}

/** A snapshot was taken. */
export type SnapshotEvent = DomainEvent<'snapshot.captured', { snapshot: SnapshotRecord }>

/** A picture of a session's window as it is now, computed from what was recorded. */
export const captureWindow = (
  { id: sessionId, conversationId, progress }: AgentSession,
  { id, type, at }: { readonly id: SnapshotId; readonly type: SnapshotType; readonly at: Instant },
): SnapshotRecord => ({ id, conversationId, sessionId, type, capturedAt: at, ...progress.window })
