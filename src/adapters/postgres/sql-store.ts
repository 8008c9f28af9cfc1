import type { Dialect } from 'kysely'
import { Kysely } from 'kysely'
import type { AgentHandoffPort } from '../../ports/agent-handoff-port.ts'
import type { AgentSessionRepository } from '../../ports/agent-session-repository.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import type { CommandRetention } from '../../ports/command-retention.ts'
import type { ContextMonitorPort } from '../../ports/context-monitor-port.ts'
import type { ContextSnapshotPort } from '../../ports/context-snapshot-port.ts'
import type { ConversationRepository } from '../../ports/conversation-repository.ts'
import type { IdSearch } from '../../ports/id-search.ts'
import type { LookBackPort } from '../../ports/look-back-port.ts'
import type { MessageRepository } from '../../ports/message-repository.ts'
import type { SessionLeases } from '../../ports/session-leases.ts'
import type { SignalQueue } from '../../ports/signal-queue.ts'
import type { Store } from '../../ports/store.ts'
import type { ThreadSummaries } from '../../ports/thread-summaries.ts'
import { auditIn } from './audit-log.ts'
import { commandsIn } from './commands.ts'
import { conversationsIn } from './conversations.ts'
import type { Database, Schema } from './database.ts'
import { handoffsIn } from './handoffs.ts'
import { idSearchIn } from './id-search.ts'
import { leasesIn } from './leases.ts'
import { lookBacksIn } from './look-backs.ts'
import { messagesIn } from './messages.ts'
import { type CommitFunction, PostgresUnitOfWork } from './postgres-unit-of-work.ts'
import { sessionsIn } from './sessions.ts'
import { monitorsIn, signalsIn } from './signals.ts'
import { snapshotsIn } from './snapshots.ts'
import { threadSummariesIn } from './thread-summaries.ts'

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
