import type { AgentSession } from '../../domain/agent-session.ts'
import type { ContextWindowSnapshot, SnapshotRecord } from '../../domain/context-snapshot.ts'
import type { Conversation } from '../../domain/conversation.ts'
import { defined } from '../../domain/defined.ts'
import type { ConversationId } from '../../domain/ids.ts'
import type { LineageRecord } from '../../domain/lineage.ts'
import type { Message, MessageInHistory } from '../../domain/message.ts'
import { rangeContains } from '../../domain/sequence.ts'
import type { AgentHandoffPort } from '../../ports/agent-handoff-port.ts'
import type { AgentSessionRepository } from '../../ports/agent-session-repository.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import type { ContextSnapshotPort } from '../../ports/context-snapshot-port.ts'
import type { ConversationRepository } from '../../ports/conversation-repository.ts'
import type { MessageRepository } from '../../ports/message-repository.ts'
import type { Store } from '../../ports/store.ts'
import type { Clock } from '../../ports/system.ts'
import { pendingFor } from './facts.ts'
import { MemoryUnitOfWork } from './memory-unit-of-work.ts'
import { numberKey, pageBy } from './paging.ts'
import { emptyTables, type Tables } from './tables.ts'

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

  constructor({ clock }: { readonly clock: Clock }) {
    const tables = emptyTables()
    this.unitOfWork = new MemoryUnitOfWork(tables, clock)
    this.conversations = conversationsIn(tables)
    this.sessions = sessionsIn(tables)
    this.handoffs = handoffsIn(tables, clock)
    this.snapshots = snapshotsIn(tables)
    this.messages = messagesIn(tables)
    this.audit = auditIn(tables)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const conversationsIn = (tables: Tables): ConversationRepository => ({
  find: async (id) => tables.conversations.get(id),
  findByExternalKey: async (key) => tables.conversations.at('externalKey', key),
  lineage: async (id) => lineageOf(tables, id),
})

const lineageOf = (tables: Tables, id: ConversationId): LineageRecord | undefined => {
  const conversation = tables.conversations.get(id)
  if (conversation === undefined) return undefined
  const line = [conversation, ...descendants(tables, id)]
  return {
    conversations: [...ancestors(tables, conversation), ...line],
    sessions: line.flatMap((member) => tables.sessions.in('conversation', member.id).map(({ session }) => session)),
    handoffs: [
      ...tables.handoffs.in('target', id),
      ...line.flatMap((member) => tables.handoffs.in('conversation', member.id)),
    ],
  }
}

const ancestors = (tables: Tables, { parentId }: Conversation): readonly Conversation[] => {
  const parent = parentId && tables.conversations.get(parentId)
  return parent ? [...ancestors(tables, parent), parent] : []
}

const descendants = (tables: Tables, id: ConversationId): readonly Conversation[] =>
  tables.conversations.in('parent', id).flatMap((child) => [child, ...descendants(tables, child.id)])

const sessionsIn = (tables: Tables): AgentSessionRepository => ({
  find: async (id) => tables.sessions.get(id)?.session,
  findActive: async (conversation) => {
    const baton = tables.sessions.at('baton', conversation)?.session
    return baton?.state === 'active' ? baton : undefined
  },
  listForConversation: async (conversation, page) =>
    pageBy<AgentSession>(
      tables.sessions.in('conversation', conversation).map(({ session }) => session),
      ({ epoch }) => numberKey(epoch),
      page,
    ),
  findByProviderSession: async (providerSessionId) =>
    tables.sessions.in('provider', providerSessionId).map(({ session }) => session),
})

const handoffsIn = (tables: Tables, clock: Clock): AgentHandoffPort => {
  const byAge = ({ initiatedAt, id }: { readonly initiatedAt: string; readonly id: string }): string =>
    `${initiatedAt}/${id}`
  return {
    find: async (id) => tables.handoffs.get(id),
    findOpenFor: async (source) => tables.handoffs.at('open', source),
    listPendingFor: async (agent, page) => pageBy(pendingFor(tables, agent, clock.now()), byAge, page),
    listForConversation: async (conversation, page) =>
      pageBy(tables.handoffs.in('conversation', conversation), byAge, page),
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

const messagesIn = (tables: Tables): MessageRepository => ({
  findTurn: async (id) => tables.turns.get(id),
  listTurns: async (session, page) =>
    pageBy(tables.turns.in('session', session), ({ number }) => numberKey(number), page),
  listMessages: async (conversation, page) => {
    const rows = tables.messages.in('conversation', conversation)
    const { items, next } = pageBy(rows, ({ sequenceNumber }) => numberKey(sequenceNumber), page)
    return defined({ items: items.map((message) => inHistory(tables, message)), next })
  },
})

/** Joins a message with the handoffs it has to do with. */
const inHistory = (tables: Tables, message: Message): MessageInHistory => {
  const { sessionId, turnId } = message
  const isFirst = turnId === undefined || tables.turns.get(turnId)?.number === 1
  const led = turnId === undefined ? [] : tables.handoffs.in('priorTurn', turnId)
  return {
    ...message,
    metadata: defined({
      sessionId,
      ledTo: led.at(-1)?.id,
      continues: isFirst ? tables.sessions.get(sessionId)?.session.initiatedByHandoff : undefined,
    }),
  }
}

const auditIn = (tables: Tables): AuditLog => ({
  list: async (conversation, page) => {
    const entries = tables.audit.in('conversation', conversation).map(({ entry }) => entry)
    return pageBy(entries, ({ position }) => numberKey(position), page)
  },
})
