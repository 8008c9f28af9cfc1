import type { AgentHandoffPort } from './agent-handoff-port.ts'
import type { AgentSessionRepository } from './agent-session-repository.ts'
import type { AuditLog } from './audit-log.ts'
import type { CallerTransaction } from './caller-transaction.ts'
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
import type { WakeUps } from './wake-ups.ts'

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
  /**
   * The same record in a place that lags behind, such as a standby: for questions about history and audit. It is never
   * written to, and nothing that decides reads from it. It is closed with this store.
   */
  readonly replica?: Store
  /** Wakes workers when a handoff is stored. A store without it is looked at again and again. */
  readonly wakeUps?: WakeUps
  /**
   * The same store inside a transaction that the caller has begun on a connection of its own, and ends. A store that has
   * no such connections has no such method.
   *
   * - `load` and `commit` stay one statement each. Nothing of them is sent again, whatever fails.
   * - A `conflict` undoes that unit alone: the transaction can still be used. A failure leaves it to be rolled back.
   * - What was committed there is kept with the transaction, and gone without it.
   *
   * @throws TypeError when it is no open transaction
   */
  within?(transaction: CallerTransaction): Store
  readonly threadSummaries: ThreadSummaries
}

/** Where the questions of people are answered. What decides by what it reads asks the store itself. */
export const forQuestions = (store: Store): Store => store.replica ?? store
