import type { Change } from '../../domain/decision.ts'
import { type HandoffMetadata, isOpen } from '../../domain/handoff/handoff.ts'
import { type AgentSession, heldBy } from '../../domain/session/agent-session.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { Tables } from './tables.ts'

/**
 * The rules that deferred constraints hold in a database, checked when all rows of a unit are there: sessions and
 * handoffs name each other, and what one says of the other must be so.
 */
export const checkLinks = (tables: Tables, changes: readonly Change[]): void => {
  for (const change of changes) {
    if (change.type === 'add_session' || change.type === 'move_session') checkSession(tables, change.working.session)
    if (change.type === 'add_handoff' || change.type === 'move_handoff') checkHandoff(tables, change.handoff)
  }
}

const checkSession = (tables: Tables, session: AgentSession): void => {
  const { id, conversationId, initiatedByHandoff, epoch, progress } = session
  const open = tables.handoffs.at('open', conversationId)
  const holder = open?.sourceSessionId === id ? open.id : undefined
  mustAgree(heldBy(session) === holder, 'agent_sessions_held_by_open_handoff')
  if (session.state === 'handed_off') {
    const left = tables.handoffs.get(session.terminatedByHandoff)
    mustAgree(
      left?.status === 'completed' && left.kind !== 'thread' && left.sourceSessionId === id,
      'agent_sessions_terminated_by_its_handoff',
    )
  }
  // The first session of a thread was initiated in another conversation.
  if (initiatedByHandoff !== undefined && epoch > 1) {
    const begun = tables.handoffs.get(initiatedByHandoff)
    mustAgree(
      begun?.conversationId === conversationId && begun.status === 'completed' && begun.targetSessionId === id,
      'agent_sessions_initiated_by_its_handoff',
    )
  }
  const { lastTurnId, turns } = progress
  const last = lastTurnId === undefined ? undefined : tables.turns.get(lastTurnId)
  mustAgree((lastTurnId === undefined) === (turns === 0), 'agent_sessions_last_turn_if_any')
  mustAgree(lastTurnId === undefined || last?.sessionId === id, 'agent_sessions_last_turn_exists')
}

const checkHandoff = (tables: Tables, handoff: HandoffMetadata): void => {
  const { id, conversationId, sourceSessionId, kind } = handoff
  const source = tables.sessions.get(sourceSessionId)?.session
  mustAgree(source !== undefined && isOpen(handoff) === (heldBy(source) === id), 'handoffs_open_while_held')
  if (handoff.status !== 'completed') return
  const { targetSessionId, targetConversationId = conversationId } = handoff
  const target = tables.sessions.get(targetSessionId)?.session
  mustAgree(
    target?.conversationId === targetConversationId && target.initiatedByHandoff === id,
    'handoffs_target_exists',
  )
  if (kind === 'thread') {
    const child = tables.conversations.get(targetConversationId)
    mustAgree(child?.parentId === conversationId, 'handoffs_thread_opens_child')
    return
  }
  mustAgree(source.state === 'handed_off' && source.terminatedByHandoff === id, 'handoffs_completed_ends_source')
}

function mustAgree(holds: boolean, rule: string): asserts holds {
  if (holds) return
  const problem = 'A session and a handoff, or a session and its turns, would contradict each other'
  throw new StoreFailure('store.integrity', `${problem} (${rule})`)
}

/** A lease changes, and turns are recorded, only with the session that the same unit begins or moves. */
export const checkCompany = (changes: readonly Change[]): void => {
  const moved = changes.flatMap((change) => ('working' in change ? change.working.session.id : []))
  for (const change of changes) {
    const isOf = change.type === 'set_lease' || change.type === 'drop_lease' || change.type === 'extend_turn'
    const id = change.type === 'add_turn' ? change.turn.sessionId : isOf ? change.session.id : undefined
    if (id !== undefined && !moved.includes(id))
      throw new StoreFailure(
        'store.integrity',
        `Session ${id} is not in the unit that would change its lease or its turns`,
      )
  }
}
