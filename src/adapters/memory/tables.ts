import type { SealedEntry } from '../../domain/audit/audit-chain.ts'
import type { KeptCommand } from '../../domain/audit/command-seal.ts'
import type { Conversation } from '../../domain/conversation/conversation.ts'
import { type HandoffMetadata, isOpen } from '../../domain/handoff/handoff.ts'
import type { AgentSessionId, ConversationId, HandoffId, HolderDigest } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { hasBaton } from '../../domain/session/agent-session.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import type { SnapshotRecord } from '../../domain/session/context-snapshot.ts'
import type { LookBackRecord } from '../../domain/session/looked-back.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import type { StoredSession } from '../../domain/session/stored-session.ts'
import type { Message } from '../../domain/turn/message.ts'
import type { ToolCall, ToolCallRecord, ToolCallReference } from '../../domain/turn/tool-call.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import type { Receipt } from '../../ports/store/receipt.ts'
import type { KeptSummary } from '../../ports/store/thread-summaries.ts'
import { Table } from './table.ts'

/** A tool call, and how others point at it. */
export interface ToolCallRow extends ToolCallRecord {
  readonly reference: ToolCall
}

/** A command that was carried out. */
export interface CommandRow extends KeptCommand {
  readonly receipt?: Receipt
  /** When, by the clock of the store. */
  readonly keptAt: Instant
}

/** An audit entry with its conversation. */
export interface AuditRow {
  readonly conversationId: ConversationId
  readonly sealed: SealedEntry
}

/** Names one use of a tool: call ids come from runtimes and are only unique within a message. */
export const toolCallKey = ({ messageId, callId }: ToolCallReference): string => `${messageId}/${callId}`

/** Until when a session's holder is to be heard of. */
export interface LeaseRow {
  readonly sessionId: AgentSessionId
  readonly conversationId: ConversationId
  readonly holder: HolderDigest
  readonly expiresAt: Instant
  readonly processes: readonly ProcessIdentity[]
  readonly runner?: ProcessIdentity
}

/** When a handoff was initiated, by the clock of the store: those of its clients differ. */
export interface HandoffTime {
  readonly id: HandoffId
  readonly keptAt: Instant
}

/** Empty tables. The unique places are the rules a database would hold with unique indexes. */
export const emptyTables = () => ({
  conversations: new Table({
    id: (row: Conversation) => row.id,
    unique: { externalKey: (row) => row.externalKey },
    groups: { parent: (row) => row.parentId, all: () => 'all' },
  }),
  sessions: new Table({
    id: ({ session }: StoredSession) => session.id,
    unique: {
      baton: ({ session }) => (hasBaton(session) ? session.conversationId : undefined),
      epoch: ({ session }) => `${session.conversationId}/${session.epoch}`,
    },
    groups: {
      conversation: ({ session }) => session.conversationId,
      provider: ({ session }) => session.providerSessionId,
    },
  }),
  turns: new Table({
    id: (row: Turn) => row.id,
    unique: { number: (row) => `${row.sessionId}/${row.number}` },
    groups: { session: (row) => row.sessionId },
  }),
  messages: new Table({
    id: (row: Message) => row.id,
    unique: { sequence: (row) => `${row.conversationId}/${row.sequenceNumber}`, report: (row) => row.reports },
    groups: {
      conversation: (row) => row.conversationId,
      personsOf: (row) => (row.origin === 'person' ? row.conversationId : undefined),
    },
  }),
  toolCalls: new Table({
    id: (row: ToolCallRow) => toolCallKey(row.reference),
    unique: {},
    groups: {
      conversation: (row) => row.conversationId,
      session: (row) => row.sessionId,
      call: (row) => `${row.conversationId}/${row.callId}`,
    },
  }),
  snapshots: new Table({
    id: (row: SnapshotRecord) => row.id,
    unique: {},
    groups: { conversation: (row) => row.conversationId, session: (row) => row.sessionId },
  }),
  lookBacks: new Table({
    id: (row: LookBackRecord) => row.id,
    unique: {},
    groups: { conversation: (row) => row.conversationId, session: (row) => row.sessionId },
  }),
  threadSummaries: new Table({
    id: (row: KeptSummary) => row.handoffId,
    unique: {},
    groups: { all: () => 'all' },
  }),
  handoffs: new Table({
    id: (row: HandoffMetadata) => row.id,
    unique: { open: (row) => (isOpen(row) ? row.conversationId : undefined) },
    groups: {
      conversation: (row) => row.conversationId,
      pending: (row) => (isOpen(row) ? row.targetAgent : undefined),
      priorTurn: (row) => row.priorTurnId,
      target: (row) => (row.status === 'completed' ? row.targetConversationId : undefined),
    },
  }),
  handoffTimes: new Table({ id: (row: HandoffTime) => row.id, unique: {}, groups: {} }),
  monitors: new Table({ id: (row: ContextMonitor) => row.sessionId, unique: {}, groups: {} }),
  signals: new Table({
    id: (row: ContextSignal) => row.id,
    unique: {},
    groups: {
      recipient: (row) => row.recipientId,
      queuedFor: (row) => (row.status === 'queued' ? row.recipientId : undefined),
      queuedAbout: (row) => (row.status === 'queued' ? row.aboutId : undefined),
    },
  }),
  leases: new Table({ id: (row: LeaseRow) => row.sessionId, unique: {}, groups: { all: () => 'all' } }),
  commands: new Table({ id: (row: CommandRow) => row.id, unique: {}, groups: { all: () => 'all' } }),
  audit: new Table({
    id: (row: AuditRow) => `${row.conversationId}/${row.sealed.position}`,
    unique: {},
    groups: { conversation: (row) => row.conversationId, all: () => 'all' },
  }),
})

/** Everything the memory store keeps. */
export type Tables = ReturnType<typeof emptyTables>
