import type { AgentSession } from './agent-session.ts'
import type { AuditEvent } from './audit-event.ts'
import { isMonitorEvent } from './context-monitor.ts'
import type { SnapshotRecord } from './context-snapshot.ts'
import type { Conversation } from './conversation.ts'
import { evolveConversation, isConversationMoved } from './conversation-lifecycle.ts'
import type { HandoffMetadata } from './handoff.ts'
import { beginHandoff, evolveHandoff } from './handoff-lifecycle.ts'
import type { ConversationId } from './ids.ts'
import { beginSession, evolveSession } from './session-lifecycle.ts'

/** What entries have added up to, and the position of the last one that spoke of it. */
export interface Folded<Row> {
  readonly row: Row
  readonly position: number
}

/** Folds the stream of a conversation as it comes, page by page, so that turns and messages need not be held. */
export class AuditFold {
  readonly conversations = new Map<string, Folded<Conversation>>()
  readonly sessions = new Map<string, Folded<AgentSession>>()
  readonly handoffs = new Map<string, Folded<HandoffMetadata>>()
  readonly snapshots = new Map<string, Folded<SnapshotRecord>>()
  readonly #conversation: ConversationId

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
  }

  /** @throws TypeError when the event is of another conversation, or speaks of something no earlier event began */
  take(event: AuditEvent, position: number): void {
    const { conversationId } = event
    if (conversationId !== this.#conversation) throw new TypeError(`It is about conversation ${conversationId}`)
    if (event.type === 'conversation.opened')
      this.conversations.set(event.conversation.id, { row: event.conversation, position })
    else if (event.type === 'session.started')
      this.sessions.set(event.session.id, { row: beginSession(event), position })
    else if (event.type === 'handoff.initiated')
      this.handoffs.set(event.handoff.id, { row: beginHandoff(event), position })
    else if (event.type === 'snapshot.captured')
      this.snapshots.set(event.snapshot.id, { row: event.snapshot, position })
    else if (isMonitorEvent(event) || event.type === 'hook.delivered')
      return // a signal, not a state
    else if (isConversationMoved(event)) {
      const row = evolveConversation(known(this.conversations, conversationId), event)
      this.conversations.set(conversationId, { row, position })
    } else if ('sessionId' in event) {
      this.sessions.set(event.sessionId, { row: evolveSession(known(this.sessions, event.sessionId), event), position })
    } else {
      this.handoffs.set(event.handoffId, { row: evolveHandoff(known(this.handoffs, event.handoffId), event), position })
    }
  }
}

const known = <Row>(from: ReadonlyMap<string, Folded<Row>>, id: string): Row => {
  const folded = from.get(id)
  if (folded === undefined) throw new TypeError(`It speaks of ${id}, which no earlier entry began`)
  return folded.row
}
