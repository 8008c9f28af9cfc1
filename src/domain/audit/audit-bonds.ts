import type { Conversation } from '../conversation/conversation.ts'
import { type HandoffMetadata, isOpen } from '../handoff/handoff.ts'
import { type AgentSession, heldBy } from '../session/agent-session.ts'

/** The state that the entries add up to so far. */
export interface FoldedState {
  readonly conversations: ReadonlyMap<string, { readonly row: Conversation }>
  readonly sessions: ReadonlyMap<string, { readonly row: AgentSession }>
  readonly handoffs: ReadonlyMap<string, { readonly row: HandoffMetadata }>
}

/** The first rule that does not hold between the sessions and handoffs a command touched. A command leaves nothing half done. */
export const brokenBond = (state: FoldedState, touched: Iterable<string>): string | undefined => {
  for (const id of touched) {
    const session = state.sessions.get(id)?.row
    const handoff = state.handoffs.get(id)?.row
    const broken = (session && brokenSession(state, session)) ?? (handoff && brokenHandoff(state, handoff))
    if (broken !== undefined) return broken
  }
  return undefined
}

const brokenSession = (state: FoldedState, session: AgentSession): string | undefined => {
  const { id } = session
  const holder = heldBy(session)
  const held = holder && state.handoffs.get(holder)?.row
  if (holder !== undefined && (held === undefined || !isOpen(held) || held.sourceSessionId !== id))
    return `Session ${id} is held by ${holder}, which is no open handoff of it`
  const ender = session.state === 'handed_off' ? session.terminatedByHandoff : undefined
  const ended = ender && state.handoffs.get(ender)?.row
  if (ender !== undefined && (ended?.status !== 'completed' || ended.sourceSessionId !== id))
    return `Session ${id} was handed off by ${ender}, which is no completed handoff of it`
  return brokenOrigin(state, session)
}

/** A session that continues a handoff is the target of it; one that a thread begins with has its handoff elsewhere. */
const brokenOrigin = (state: FoldedState, session: AgentSession): string | undefined => {
  const { id, initiatedByHandoff: from, epoch, conversationId } = session
  if (from === undefined) return undefined
  const handoff = state.handoffs.get(from)?.row
  const isFirst = epoch === 1 && state.conversations.get(conversationId)?.row.parentId !== undefined
  if (handoff === undefined && isFirst) return undefined
  const isTarget = handoff?.status === 'completed' && handoff.targetSessionId === id
  return isTarget ? undefined : `Session ${id} continues handoff ${from}, which was not completed by it`
}

const brokenHandoff = (state: FoldedState, handoff: HandoffMetadata): string | undefined => {
  const { id, kind, sourceSessionId } = handoff
  const source = state.sessions.get(sourceSessionId)?.row
  if (kind === 'thread') {
    const isWhole = handoff.status === 'completed' && handoff.targetConversationId !== undefined
    return isWhole ? undefined : `Handoff ${id} opened a thread and left it without its conversation`
  }
  const holder = source && heldBy(source)
  if (isOpen(handoff) !== (holder === id)) return `Handoff ${id} is ${handoff.status}, and its source is not held so`
  if (handoff.status !== 'completed') return undefined
  const target = state.sessions.get(handoff.targetSessionId)?.row
  return target?.initiatedByHandoff === id && source?.state === 'handed_off' && source.terminatedByHandoff === id
    ? undefined
    : `Handoff ${id} was completed without a source that it ended and a target that it began`
}
