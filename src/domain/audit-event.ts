import type { MonitorEvent } from './context-monitor.ts'
import type { SnapshotEvent } from './context-snapshot.ts'
import type { ConversationEvent } from './conversation-lifecycle.ts'
import type { HandoffEvent } from './handoff-lifecycle.ts'
import type { HookDelivered } from './hook-delivery.ts'
import type { CommandId } from './ids.ts'
import type { SessionEvent } from './session-lifecycle.ts'

/** Everything that happens, as the facts decisions return. */
export type AuditEvent = ConversationEvent | SessionEvent | HandoffEvent | SnapshotEvent | MonitorEvent | HookDelivered

/** One line of a conversation's audit log. */
export interface AuditEntry {
  /** 1, 2, 3 … without a gap, within its conversation. */
  readonly position: number
  readonly commandId: CommandId
  readonly event: AuditEvent
}
