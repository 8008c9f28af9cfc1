import type { Dialect } from 'kysely'
import { Kysely } from 'kysely'
import type { AgentHandoffPort } from '../../../ports/store/agent-handoff-port.ts'
import type { AgentSessionRepository } from '../../../ports/store/agent-session-repository.ts'
import type { AuditLog } from '../../../ports/store/audit-log.ts'
import type { CommandRetention } from '../../../ports/store/command-retention.ts'
import type { ContextMonitorPort } from '../../../ports/store/context-monitor-port.ts'
import type { ContextSnapshotPort } from '../../../ports/store/context-snapshot-port.ts'
import type { ConversationRepository } from '../../../ports/store/conversation-repository.ts'
import type { IdSearch } from '../../../ports/store/id-search.ts'
import type { LookBackPort } from '../../../ports/store/look-back-port.ts'
import type { MessageRepository } from '../../../ports/store/message-repository.ts'
import type { SessionLeases } from '../../../ports/store/session-leases.ts'
import type { SignalQueue } from '../../../ports/store/signal-queue.ts'
import type { Store } from '../../../ports/store/store.ts'
import type { ThreadSummaries } from '../../../ports/store/thread-summaries.ts'
import { auditIn } from '../statements/audit-log.ts'
import { commandsIn } from '../statements/command-retention.ts'
import { conversationsIn } from '../statements/conversations.ts'
import type { Database, Schema } from '../statements/database.ts'
import { handoffsIn } from '../statements/handoffs.ts'
import { idSearchIn } from '../statements/id-search.ts'
import { leasesIn } from '../statements/leases.ts'
import { lookBacksIn } from '../statements/look-backs.ts'
import { messagesIn } from '../statements/messages.ts'
import { type CommitFunction, PostgresUnitOfWork } from '../statements/postgres-unit-of-work.ts'
import { sessionsIn } from '../statements/sessions.ts'
import { monitorsIn, signalsIn } from '../statements/signals.ts'
import { snapshotsIn } from '../statements/snapshots.ts'
import { threadSummariesIn } from '../statements/thread-summaries.ts'

/** The schema of a store, and how it is written to and closed. */
export interface SqlStoreParts {
  readonly schema: string
  readonly close: () => Promise<void>
  /** The function that keeps a decision; the one for a transaction of its own unless given. */
  readonly commit?: CommitFunction
}

/** Everything kept in a Postgres schema, over any engine that speaks Postgres. Made by `openPostgres` and `openPglite`. */
export class SqlStore implements Store {
  readonly unitOfWork: PostgresUnitOfWork
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
  readonly database: Database
  readonly #close: () => Promise<void>

  constructor(dialect: Dialect, { schema, close, commit = 'commit_unit' }: SqlStoreParts) {
    const kysely = new Kysely<Schema>({ dialect }).withSchema(schema)
    this.database = { kysely, schema }
    this.#close = close
    this.unitOfWork = new PostgresUnitOfWork(this.database, commit)
    this.conversations = conversationsIn(this.database)
    this.sessions = sessionsIn(this.database)
    this.handoffs = handoffsIn(this.database)
    this.snapshots = snapshotsIn(this.database)
    this.messages = messagesIn(this.database)
    this.audit = auditIn(this.database)
    this.monitors = monitorsIn(this.database)
    this.signals = signalsIn(this.database)
    this.leases = leasesIn(this.database)
    this.commands = commandsIn(this.database)
    this.ids = idSearchIn(this.database)
    this.lookBacks = lookBacksIn(this.database)
    this.threadSummaries = threadSummariesIn(this.database)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}
