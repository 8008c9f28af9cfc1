import type { Conversation } from '../conversation/conversation.ts'
import type { HandoffMetadata } from '../handoff/handoff.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, HandoffId } from '../kernel/ids.ts'
import type { AgentSession } from '../session/agent-session.ts'

/** The subject of a lineage: a conversation, or any session or handoff of it. */
export type LineageSubject =
  | { readonly conversationId: ConversationId }
  | { readonly sessionId: AgentSessionId }
  | { readonly handoffId: HandoffId }

/** The parts a lineage is made of, as one read finds them. */
export interface LineageRecord {
  /** The conversation, its ancestors and its descendants. */
  readonly conversations: readonly Conversation[]
  /** Of the conversation and its descendants. */
  readonly sessions: readonly AgentSession[]
  /** Of the conversation and its descendants, and the one that opened it. */
  readonly handoffs: readonly HandoffMetadata[]
}

/** The sessions of a conversation, the handoffs between them, and its threads. */
export interface LineageBranch {
  readonly conversation: Conversation
  /** The handoff that opened it as a thread of its parent. */
  readonly openedBy?: HandoffMetadata
  /** By epoch. */
  readonly sessions: readonly AgentSession[]
  /** Oldest first. */
  readonly handoffs: readonly HandoffMetadata[]
  /** Child conversations, oldest first. */
  readonly threads: readonly LineageBranch[]
}

/** Where a conversation came from and what happened to it. */
export interface Lineage extends LineageBranch {
  /** The root first, the parent last. */
  readonly ancestors: readonly Conversation[]
}

/** Orders by the values of some keys, the first that differs deciding. */
export const by =
  <T>(...keys: readonly ((item: T) => string | number)[]) =>
  (a: T, b: T): number => {
    for (const key of keys) {
      const [left, right] = [key(a), key(b)]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }

/**
 * Puts the parts of a lineage in order. Answers `undefined` when the conversation that was asked for is not among
 * them.
 */
export const arrangeLineage = (record: LineageRecord, of: ConversationId | LineageSubject): Lineage | undefined => {
  const id = conversationOf(record, typeof of === 'string' ? { conversationId: of } : of)
  const conversation = record.conversations.find((candidate) => candidate.id === id)
  return conversation && { ...branch(record, conversation), ancestors: ancestorsOf(record, conversation) }
}

const conversationOf = (record: LineageRecord, of: LineageSubject): ConversationId | undefined => {
  if ('conversationId' in of) return of.conversationId
  if ('sessionId' in of) return record.sessions.find(({ id }) => id === of.sessionId)?.conversationId
  return record.handoffs.find(({ id }) => id === of.handoffId)?.conversationId
}

/** `above` is the line down to here: rows that were tampered with may form a ring, and a ring has to end. */
const branch = (record: LineageRecord, conversation: Conversation, above: readonly string[] = []): LineageBranch => {
  const { id } = conversation
  const line = [...above, id]
  return defined({
    conversation,
    openedBy: record.handoffs.find(
      (handoff) => 'targetConversationId' in handoff && handoff.targetConversationId === id,
    ),
    sessions: record.sessions.filter((session) => session.conversationId === id).sort(by(({ epoch }) => epoch)),
    handoffs: record.handoffs
      .filter((handoff) => handoff.conversationId === id)
      .sort(
        by(
          ({ initiatedAt }) => initiatedAt,
          (handoff) => handoff.id,
        ),
      ),
    threads: record.conversations
      .filter((child) => child.parentId === id && !line.includes(child.id))
      .sort(
        by(
          ({ openedAt }) => openedAt,
          (child) => child.id,
        ),
      )
      .map((child) => branch(record, child, line)),
  })
}

const ancestorsOf = (record: LineageRecord, of: Conversation): readonly Conversation[] => {
  const line = [of]
  for (;;) {
    const parent = record.conversations.find(({ id }) => id === line[0]?.parentId)
    if (parent === undefined || line.includes(parent)) return line.slice(0, -1)
    line.unshift(parent)
  }
}
