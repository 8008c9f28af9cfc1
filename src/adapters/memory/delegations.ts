import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { by } from '../../domain/history/lineage.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { DelegatedThread, ThreadTree } from '../../domain/thread/delegated-thread.ts'
import { MOST_DELEGATED } from '../../ports/store/conversation-repository.ts'
import { budgetUse } from './budget-use.ts'
import type { Tables } from './tables.ts'

/** The delegated threads of a conversation that no message reports yet, oldest first. */
export const delegatedIn = (tables: Tables, id: ConversationId): readonly DelegatedThread[] =>
  delegatedBy(tables, id)
    .filter((handoff) => tables.messages.at('report', handoff.id) === undefined)
    .sort(
      by(
        ({ initiatedAt }) => initiatedAt,
        ({ id }) => id,
      ),
    )
    .slice(0, MOST_DELEGATED)
    .flatMap((handoff) => {
      const child = handoff.status === 'completed' ? handoff.targetConversationId : undefined
      const session = child && latestSession(tables, child)
      return session ? [{ handoff, session }] : []
    })

/** The tree that a conversation is in, from its root down. */
export const treeOf = (tables: Tables, id: ConversationId): ThreadTree | undefined => {
  const conversation = tables.conversations.get(id)
  if (conversation === undefined) return undefined
  const line = lineUp(tables, conversation)
  const tree = new Set<ConversationId>()
  const waiting = line.map((member) => member.id)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (tree.has(next)) continue
    tree.add(next)
    waiting.push(...tables.conversations.in('parent', next).map((child) => child.id))
  }
  return {
    depth: line.length - 1,
    threads: [...tree].reduce((sum, member) => sum + delegatedBy(tables, member).length, 0),
    costUsd: [...tree].reduce((sum, member) => sum + budgetUse(tables, member).costUsd, 0),
  }
}

const delegatedBy = (tables: Tables, id: ConversationId): readonly HandoffMetadata[] =>
  tables.handoffs.in('conversation', id).filter(({ kind, flags }) => kind === 'thread' && flags.includes('delegated'))

/** A conversation and its ancestors, each once. */
const lineUp = (tables: Tables, from: Conversation): readonly Conversation[] => {
  const line = new Set<Conversation>()
  for (let next: Conversation | undefined = from; next !== undefined && !line.has(next); ) {
    line.add(next)
    next = next.parentId && tables.conversations.get(next.parentId)
  }
  return [...line]
}

const latestSession = (tables: Tables, id: ConversationId): AgentSession | undefined =>
  tables.sessions
    .in('conversation', id)
    .map(({ session }) => session)
    .toSorted((one, other) => one.epoch - other.epoch)
    .at(-1)
