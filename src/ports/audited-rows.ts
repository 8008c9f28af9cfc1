import type { KeptCommand } from '../domain/audit/command-seal.ts'
import type { AgentSessionId, CommandId, ConversationId } from '../domain/kernel/ids.ts'
import type { SnapshotRecord } from '../domain/session/context-snapshot.ts'
import type { ToolCallRecord } from '../domain/turn/tool-call.ts'
import type { Turn } from '../domain/turn/turn.ts'
import type { Page, Paged } from './page.ts'

/** The kinds of things that are found by their id alone, in whatever conversation they stand. */
export const FOUND_BY_ID = ['handoff', 'message', 'session', 'snapshot', 'turn'] as const

/** An id that two rows have, which no writer of ours makes. */
export interface SharedId {
  readonly kind: (typeof FOUND_BY_ID)[number]
  readonly id: string
  /** By id. One, when both rows stand there. */
  readonly conversations: readonly ConversationId[]
}

/**
 * The rows stored beside the log, as verifying needs them: of one conversation and no other, with every column, and
 * whatever has become of it.
 */
export interface AuditedRows {
  /** By number. */
  listTurnsIn(conversation: ConversationId, session: AgentSessionId, page: Page): Promise<Paged<Turn>>
  /** In the order of messages, and within one by position. */
  listToolCallsIn(conversation: ConversationId, page: Page): Promise<Paged<ToolCallRecord>>
  /** By id. */
  listSnapshotsIn(conversation: ConversationId, page: Page): Promise<Paged<SnapshotRecord>>
  /** Those that are still remembered, in any order. */
  findCommands(ids: readonly CommandId[]): Promise<readonly KeptCommand[]>
  /** Every id that stands twice, anywhere, by kind and id. */
  listSharedIds(page: Page): Promise<Paged<SharedId>>
}
