import type { AuditEvent } from '../audit-event.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { evolveConversation, isConversationMoved } from '../conversation/conversation-lifecycle.ts'
import type { HandoffMetadata } from '../handoff/handoff.ts'
import { beginHandoff, evolveHandoff } from '../handoff/handoff-lifecycle.ts'
import type { AgentSessionId, ConversationId, HandoffId, SnapshotId } from '../kernel/ids.ts'
import type { AgentSession } from '../session/agent-session.ts'
import type { SnapshotRecord } from '../session/context-snapshot.ts'
import { beginSession, evolveSession } from '../session/session-lifecycle.ts'
import { isMonitorEvent } from '../window/context-monitor.ts'

/** The state that a list of events adds up to. */
export interface History {
  readonly conversations: ReadonlyMap<ConversationId, Conversation>
  readonly sessions: ReadonlyMap<AgentSessionId, AgentSession>
  readonly handoffs: ReadonlyMap<HandoffId, HandoffMetadata>
  readonly snapshots: ReadonlyMap<SnapshotId, SnapshotRecord>
}

/**
 * Folds events into the state they add up to. What is stored must equal it.
 *
 * @throws TypeError when an event speaks of something no earlier event began
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const { items } = await batonpass.history.auditTrail(conversation.id)
 * const history = foldHistory(items.map(({ event }) => event))
 * console.log(history.conversations.has(conversation.id)) // => true
 * ```
 */
export const foldHistory = (events: Iterable<AuditEvent>): History => {
  const conversations = new Map<ConversationId, Conversation>()
  const sessions = new Map<AgentSessionId, AgentSession>()
  const handoffs = new Map<HandoffId, HandoffMetadata>()
  const snapshots = new Map<SnapshotId, SnapshotRecord>()
  for (const event of events) {
    if (event.type === 'conversation.opened') conversations.set(event.conversation.id, event.conversation)
    else if (event.type === 'session.started') sessions.set(event.session.id, beginSession(event))
    else if (event.type === 'handoff.initiated') handoffs.set(event.handoff.id, beginHandoff(event))
    else if (event.type === 'snapshot.captured') snapshots.set(event.snapshot.id, event.snapshot)
    else if (isMonitorEvent(event) || isBeside(event))
      continue // a signal, or about texts, which are withheld here
    else if (isConversationMoved(event)) {
      const { conversationId: id } = event
      conversations.set(id, evolveConversation(rowOf(conversations, id), event))
    } else if ('sessionId' in event) {
      sessions.set(event.sessionId, evolveSession(rowOf(sessions, event.sessionId), event))
    } else handoffs.set(event.handoffId, evolveHandoff(rowOf(handoffs, event.handoffId), event))
  }
  return { conversations, sessions, handoffs, snapshots }
}

type Beside = Extract<AuditEvent, { type: 'hook.delivered' | 'text.erased' | 'session.looked_back' }>

/** Whether an event tells of nothing that is folded here. */
const isBeside = (event: AuditEvent): event is Beside =>
  event.type === 'hook.delivered' || event.type === 'text.erased' || event.type === 'session.looked_back'

const rowOf = <Key, Value>(from: ReadonlyMap<Key, Value>, key: Key): Value => {
  const value = from.get(key)
  if (value === undefined) throw new TypeError(`An event speaks of ${String(key)}, which no earlier event began`)
  return value
}
