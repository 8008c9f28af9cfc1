import type { AgentHandoffPort } from './agent-handoff-port.ts'
import type { AgentSessionRepository } from './agent-session-repository.ts'
import type { AuditLog } from './audit-log.ts'
import type { CommandRetention } from './command-retention.ts'
import type { ContextMonitorPort } from './context-monitor-port.ts'
import type { ContextSnapshotPort } from './context-snapshot-port.ts'
import type { ConversationRepository } from './conversation-repository.ts'
import type { IdSearch } from './id-search.ts'
import type { LookBackPort } from './look-back-port.ts'
import type { MessageRepository } from './message-repository.ts'
import type { SessionLeases } from './session-leases.ts'
import type { SignalQueue } from './signal-queue.ts'
import type { ThreadSummaries } from './thread-summaries.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Stores everything, in one place: writes go through the unit of work, reads through the other ports. */
export interface Store extends AsyncDisposable {
  readonly unitOfWork: UnitOfWork
  readonly conversations: ConversationRepository
  readonly sessions: AgentSessionRepository
  readonly handoffs: AgentHandoffPort
  readonly snapshots: ContextSnapshotPort
  readonly messages: MessageRepository
  readonly audit: AuditLog
  readonly monitors: ContextMonitorPort
  readonly signals: SignalQueue
  readonly leases: SessionLeases
  readonly commands: CommandRetention
  readonly ids: IdSearch
  readonly lookBacks: LookBackPort
  readonly threadSummaries: ThreadSummaries
}
