import {
  type AgentSessionId,
  agentSessionId,
  type ConversationId,
  conversationId,
  type HandoffId,
  type HolderToken,
  handoffId,
  holderToken,
  type TurnId,
  turnId,
  type WorkingSession,
} from '../../src/entry/index.ts'

/** What an orchestrator writes to a file of its own, to continue after it was restarted. */
export interface Saved {
  readonly conversation: ConversationId
  readonly session: AgentSessionId
  readonly holder: HolderToken
  readonly lastTurn?: TurnId
  readonly handoff?: HandoffId
}

/** A working session as text. An id is all that counts of a session that comes back as text. */
export const save = ({ session, holder }: WorkingSession, more: Pick<Saved, 'lastTurn' | 'handoff'> = {}): string =>
  JSON.stringify({ conversation: session.conversationId, session: session.id, holder, ...more })

/** Reads it again. Each parser refuses a text that cannot be its id. @throws TypeError */
export const read = (text: string): Saved => {
  const raw = JSON.parse(text) as Record<keyof Saved, string | undefined>
  return {
    conversation: conversationId(raw.conversation ?? ''),
    session: agentSessionId(raw.session ?? ''),
    holder: holderToken(raw.holder ?? ''),
    ...(raw.lastTurn !== undefined && { lastTurn: turnId(raw.lastTurn) }),
    ...(raw.handoff !== undefined && { handoff: handoffId(raw.handoff) }),
  }
}
