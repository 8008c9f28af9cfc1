import { defined } from '../../domain/kernel/defined.ts'
import { ID_LENGTH } from '../../domain/kernel/id-ending.ts'
import { later } from '../../domain/kernel/instant.ts'
import { LEAST_RETENTION_MS } from '../../domain/kernel/retention-time.ts'
import { rangeContains } from '../../domain/kernel/sequence.ts'
import type { ContextWindowSnapshot, SnapshotRecord } from '../../domain/session/context-snapshot.ts'
import type { AgentHandoffPort } from '../../ports/store/agent-handoff-port.ts'
import type { AgentSessionRepository } from '../../ports/store/agent-session-repository.ts'
import type { AuditLog } from '../../ports/store/audit-log.ts'
import type { CommandRetention } from '../../ports/store/command-retention.ts'
import type { ContextMonitorPort } from '../../ports/store/context-monitor-port.ts'
import type { ContextSnapshotPort } from '../../ports/store/context-snapshot-port.ts'
import type { ConversationRepository } from '../../ports/store/conversation-repository.ts'
import { type IdSearch, NEWEST_IDS } from '../../ports/store/id-search.ts'
import type { LookBackPort } from '../../ports/store/look-back-port.ts'
import type { MessageRepository } from '../../ports/store/message-repository.ts'
import type { SessionLeases } from '../../ports/store/session-leases.ts'
import type { SignalQueue } from '../../ports/store/signal-queue.ts'
import type { Store } from '../../ports/store/store.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { ThreadSummaries } from '../../ports/store/thread-summaries.ts'
import type { WakeUps } from '../../ports/store/wake-ups.ts'
import type { Clock } from '../../ports/system/system.ts'
import { auditIn } from './audit-log.ts'
import { conversationsIn } from './conversations.ts'
import { handoffsIn } from './handoffs.ts'
import { leasesIn } from './leases.ts'
import { lookBacksIn } from './look-backs.ts'
import { MemoryUnitOfWork } from './memory-unit-of-work.ts'
import { messagesIn } from './messages.ts'
import { numberKey, pageBy } from './paging.ts'
import { sessionsIn } from './sessions.ts'
import { signalsIn } from './signals.ts'
import { type CommandRow, emptyTables, type Tables } from './tables.ts'
import { threadSummariesIn } from './thread-summaries.ts'
import { MemoryWakeUps } from './wake-ups.ts'

/**
 * Keeps everything in this process's memory, with the semantics of a real store: whole commits or none, versions,
 * unique places, and data that nobody can change from outside. For tests, demos and single-process use that may forget.
 *
 * @example
 * ```ts
 * await using store = new MemoryStore({ clock: new FixedClock() })
 * await using batonpass = await createBatonpass({ store })
 * await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test', externalKey: 'issue-7' })
 * console.log((await store.conversations.findByExternalKey('issue-7'))?.originalTask) // => Fix the flaky test
 * ```
 */
export class MemoryStore implements Store {
  readonly unitOfWork: MemoryUnitOfWork
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
  readonly wakeUps: WakeUps

  readonly #tables: Tables

  constructor({ clock }: { readonly clock: Clock }) {
    const tables = emptyTables()
    this.#tables = tables
    const wakeUps = new MemoryWakeUps()
    this.wakeUps = wakeUps
    this.unitOfWork = new MemoryUnitOfWork(tables, clock, wakeUps)
    this.conversations = conversationsIn(tables, clock)
    this.sessions = sessionsIn(tables, clock)
    this.handoffs = handoffsIn(tables, clock)
    this.snapshots = snapshotsIn(tables)
    this.messages = messagesIn(tables)
    this.audit = auditIn(tables)
    this.monitors = { find: async (session) => tables.monitors.get(session) }
    this.signals = signalsIn(tables)
    this.leases = leasesIn(tables, clock)
    this.commands = commandsIn(tables, clock)
    this.ids = idSearchIn(tables)
    this.lookBacks = lookBacksIn(tables)
    this.threadSummaries = threadSummariesIn(tables)
  }

  /** Everything is forgotten, and later questions fail, as with any other store that is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of Object.keys(this.#tables))
      Object.defineProperty(this.#tables, name, {
        get: () => {
          throw new StoreFailure('store.failed', 'The store is closed')
        },
        configurable: true,
      })
  }
}

const snapshotsIn = (tables: Tables): ContextSnapshotPort => {
  const whole = (record: SnapshotRecord): ContextWindowSnapshot => {
    const { range, sessionId } = record
    const calls = range === undefined ? [] : tables.toolCalls.in('session', sessionId).map(({ reference }) => reference)
    return { ...record, visibleToolCalls: calls.filter((call) => range && rangeContains(range, call.sequenceNumber)) }
  }
  return {
    find: async (id) => {
      const record = tables.snapshots.get(id)
      return record && whole(record)
    },
    findLatest: async (session) => tables.snapshots.in('session', session).slice(-1).map(whole)[0],
    listForSession: async (session, page) => {
      const order = new Map(tables.snapshots.in('session', session).map(({ id }, index) => [id, numberKey(index)]))
      const { items, next } = pageBy(tables.snapshots.in('session', session), ({ id }) => order.get(id) ?? '', page)
      return defined({ items: items.map(whole), next })
    },
  }
}

/** No step is larger, whatever is asked. */
const LARGEST_STEP = 1_000

/** Commands that were carried out, and how old they are by the clock of the store. */
const commandsIn = (tables: Tables, clock: Clock): CommandRetention => {
  const prunable = (keepMs: number): readonly CommandRow[] => {
    const before = later(clock.now(), -Math.max(keepMs, LEAST_RETENTION_MS))
    return tables.commands.in('all', 'all').filter(({ keptAt }) => keptAt < before)
  }
  return {
    // They stand in the order in which they came.
    prune: async (keepMs, most) => {
      const old = prunable(keepMs).slice(0, Math.min(most, LARGEST_STEP))
      for (const { id } of old) tables.commands.remove(id)
      return old.length
    },
    countPrunable: async (keepMs) => prunable(keepMs).length,
  }
}

/** Ids by their end. Everything is at hand here, so each id is looked at. */
const idSearchIn = (tables: Tables): IdSearch => {
  const kinds = {
    conversation: tables.conversations,
    session: tables.sessions,
    handoff: tables.handoffs,
    turn: tables.turns,
  }
  return {
    ending: async (kind, ending, most) => {
      const ids = kinds[kind].ids().toSorted().toReversed()
      const searched = ending.length === ID_LENGTH ? ids : ids.slice(0, NEWEST_IDS)
      return searched.filter((id) => id.endsWith(ending)).slice(0, most)
    },
  }
}
