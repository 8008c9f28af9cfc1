import type { KeptCommand } from '../../domain/audit/command-seal.ts'
import type { AgentSessionId, CommandId, ConversationId, HandoffId } from '../../domain/kernel/ids.ts'
import type { SnapshotRecord } from '../../domain/session/context-snapshot.ts'
import type { LookBackRecord } from '../../domain/session/looked-back.ts'
import type { ToolCallRecord } from '../../domain/turn/tool-call.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import type { Page, Paged } from './page.ts'

/** The kinds of rows that are found by their id alone, in any conversation. */
export const FOUND_BY_ID = ['handoff', 'message', 'session', 'snapshot', 'turn'] as const

/** An id that two rows share, which Batonpass itself never writes. */
export interface SharedId {
  readonly kind: (typeof FOUND_BY_ID)[number]
  readonly id: string
  /** By id. One conversation when both rows are in the same. */
  readonly conversations: readonly ConversationId[]
}

/**
 * The rows stored beside the log, as verifying needs them: those of one conversation only, with every column, even
 * if they were changed.
 */
export interface AuditedRows {
  /** By number. */
  listTurnsIn(conversation: ConversationId, session: AgentSessionId, page: Page): Promise<Paged<Turn>>
  /** In the order of messages, and within one by position. */
  listToolCallsIn(conversation: ConversationId, page: Page): Promise<Paged<ToolCallRecord>>
  /** By id. */
  listSnapshotsIn(conversation: ConversationId, page: Page): Promise<Paged<SnapshotRecord>>
  /** By id. */
  listLookBacksIn(conversation: ConversationId, page: Page): Promise<Paged<LookBackRecord>>
  /** Those that are still remembered, in any order. */
  findCommands(ids: readonly CommandId[]): Promise<readonly KeptCommand[]>
  /** Those of a conversation that no entry of its log names: commands that logged nothing, unless somebody changed an id. */
  listUnnamedCommands(conversation: ConversationId): Promise<readonly KeptCommand[]>
  /** Handoffs whose tool calls are not numbered from one without a gap. */
  listMisnumbered(conversation: ConversationId): Promise<readonly HandoffId[]>
  /** Every id that two rows share, in any conversation, by kind and id. */
  listSharedIds(page: Page): Promise<Paged<SharedId>>
}
