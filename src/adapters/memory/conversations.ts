import { type Conversation, conversationState } from '../../domain/conversation/conversation.ts'
import type { LineageRecord, LineageSubject } from '../../domain/history/lineage.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { containsJson } from '../../domain/kernel/metadata.ts'
import type { ConversationRepository } from '../../ports/store/conversation-repository.ts'
import type { Clock } from '../../ports/system/system.ts'
import { allConversations, pageByAge } from './all-rows.ts'
import { budgetUse } from './budget-use.ts'
import { delegatedIn, treeOf } from './delegations.ts'
import { listJobs } from './jobs.ts'
import type { Tables } from './tables.ts'

/** Conversations, one or many, and whole lineages. */
export const conversationsIn = (tables: Tables, clock: Clock): ConversationRepository => ({
  find: async (id) => tables.conversations.get(id),
  findByExternalKey: async (key) => tables.conversations.at('externalKey', key),
  findUse: async (id) => (tables.conversations.get(id) === undefined ? undefined : budgetUse(tables, id)),
  list: async ({ subject, isRoot, state, metadata, order = 'oldest_first' }, page) => {
    const found = allConversations(tables)
      .filter((candidate) => subject === undefined || candidate.subject === subject)
      .filter(({ parentId }) => isRoot !== true || parentId === undefined)
      .filter((candidate) => state === undefined || conversationState(candidate) === state)
      .filter((candidate) => metadata === undefined || containsJson(candidate.metadata, metadata))
    return pageByAge(found, ({ openedAt }) => openedAt, { ...page, order })
  },
  lineage: async (of) => {
    const id = conversationOf(tables, typeof of === 'string' ? { conversationId: of } : of)
    return id && lineageOf(tables, id)
  },
  listDelegated: async (id) => delegatedIn(tables, id),
  listJobs: async (filter, page) => listJobs(tables, clock.now(), filter, page),
  findTree: async (id) => treeOf(tables, id),
})

const conversationOf = (tables: Tables, of: LineageSubject): ConversationId | undefined => {
  if ('conversationId' in of) return of.conversationId
  if ('sessionId' in of) return tables.sessions.get(of.sessionId)?.session.conversationId
  return tables.handoffs.get(of.handoffId)?.conversationId
}

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
