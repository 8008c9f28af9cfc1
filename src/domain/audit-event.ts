import type { ConversationEvent } from './conversation/conversation-lifecycle.ts'
import type { HandoffEvent } from './handoff/handoff-lifecycle.ts'
import type { HookDelivered } from './hooks/hook-delivery.ts'
import type { DomainEvent } from './kernel/event.ts'
import type { CommandId } from './kernel/ids.ts'
import type { SnapshotEvent } from './session/context-snapshot.ts'
import type { LookedBack } from './session/looked-back.ts'
import type { SessionEvent } from './session/session-event.ts'
import type { MonitorEvent } from './window/context-monitor.ts'

/** Names one text that was stored. */
export interface TextName {
  readonly row: 'conversation' | 'session' | 'handoff' | 'message' | 'tool call' | 'look back'
  /** Its id; of a tool call its sequence number and call id, as in `7/toolu_01`. */
  readonly id: string
  /** Where in the row, such as `text`, `originalTask` or `prepared.continuation`. */
  readonly field: string
}

/**
 * Texts were erased: each now reads `TEXT_ERASED`, and the salts of their digests were deleted. `by` and `why` stay
 * in the log for ever and in clear, so they name an office and a case, not a person.
 */
export type TextErased = DomainEvent<'text.erased', { texts: readonly TextName[]; by: string; why: string }>

/** Everything that happens, as the facts decisions return. */
export type AuditEvent =
  | ConversationEvent
  | SessionEvent
  | HandoffEvent
  | SnapshotEvent
  | MonitorEvent
  | HookDelivered
  | LookedBack
  | TextErased

/** One line of a conversation's audit log. */
export interface AuditEntry {
  /** 1, 2, 3 … without a gap, within its conversation. */
  readonly position: number
  readonly commandId: CommandId
  readonly event: AuditEvent
}
