import type { Conversation } from '../conversation/conversation.ts'
import {
  type ConversationMoved,
  decideConversation,
  evolveConversation,
} from '../conversation/conversation-lifecycle.ts'
import { claimOf, type HandoffMetadata } from '../handoff/handoff.ts'
import {
  decideHandoff,
  evolveHandoff,
  type HandoffCommand,
  type HandoffMoved,
  type HandoffStep,
} from '../handoff/handoff-lifecycle.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import { defined } from '../kernel/defined.ts'
import type { Result } from '../kernel/result.ts'
import { describeRefusal, type Refusal } from '../refusal.ts'
import type { AgentSession } from '../session/agent-session.ts'
import type { SessionMoved } from '../session/session-event.ts'
import { decideSession, evolveSession, type SessionCommand } from '../session/session-lifecycle.ts'
import type { Message } from '../turn/message.ts'
import type { ToolCall } from '../turn/tool-call.ts'
import type { MessageDraft, TurnDraft } from '../turn/turn.ts'

/** An entry tells of something that no decision could have made where it stands. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent'
  /** Of the entry, when it is another than the one that was taken. */
  readonly position: number | undefined

  constructor(message: string, position?: number) {
    super(message)
    this.position = position
  }
}

/**
 * The session once the event has happened.
 *
 * No rule stands here: the command that the event tells of is decided again, and must lead to the same event.
 *
 * @throws ImpossibleEvent when it would have been refused, or would have led to something else
 */
export const replaySession = (session: AgentSession, event: SessionMoved): AgentSession => {
  // A note may be set at any time.
  if (event.type === 'session.metadata_set') return evolveSession(session, event)
  agree(decideSession(session, sessionCommandOf(event)), event)
  return evolveSession(session, event)
}

/** The handoff once the event has happened. @throws ImpossibleEvent as for a session */
export const replayHandoff = (handoff: HandoffMetadata, event: HandoffMoved): HandoffMetadata => {
  if (event.type === 'handoff.metadata_set') return evolveHandoff(handoff, event)
  if (event.type === 'handoff.extract_kept') {
    if (handoff.extract !== undefined) throw new ImpossibleEvent(`Handoff ${handoff.id} had an extract already`)
    return evolveHandoff(handoff, event)
  }
  agree(decideHandoff(handoff, handoffCommandOf(handoff, event)), event)
  return evolveHandoff(handoff, event)
}

/** The conversation once the event has happened. @throws ImpossibleEvent as for a session */
export const replayConversation = (conversation: Conversation, event: ConversationMoved): Conversation => {
  // A note, a budget and a new prompt may come at any time.
  if (event.type === 'conversation.closed' || event.type === 'conversation.reopened')
    agree(decideConversation(conversation, event.type === 'conversation.closed' ? 'close' : 'reopen', event.at), event)
  return evolveConversation(conversation, event)
}

/** Whether an event is what was decided. It may say more: who asked is not decided. */
const agree = <Event extends object>(decided: Result<Event, Refusal>, event: Event): void => {
  if (!decided.ok) throw new ImpossibleEvent(describeRefusal(decided.error))
  const written = event as Readonly<Record<string, unknown>>
  for (const [name, part] of Object.entries(decided.value)) {
    if (canonicalJson(part) === canonicalJson(written[name])) continue
    throw new ImpossibleEvent(`Its ${name} is not what was due there`)
  }
}

const sessionCommandOf = (event: Exclude<SessionMoved, { type: 'session.metadata_set' }>): SessionCommand => {
  const { at } = event
  switch (event.type) {
    case 'turn.recorded':
      return { type: 'record_turn', at, turn: draftOf(event) }
    case 'turn.extended':
      return { type: 'extend_turn', at, messages: draftsOf(event.messages, event.toolCalls) }
    case 'session.taken_over':
      return { type: 'take_over', at, ...(event.isAbandoned === true && { isAbandoned: true }) }
    case 'session.truncated':
      return { type: 'truncate', at }
    case 'session.attached':
      return { type: 'attach', at, providerSessionId: event.providerSessionId }
    case 'session.accounted':
      return { type: 'account', at, totals: event.totals }
    case 'session.paused':
      return { type: 'pause', at }
    case 'session.resumed':
      return { type: 'resume', at, nextSequence: event.nextSequence }
    case 'session.completed':
      return { type: 'complete', at }
    case 'session.failed':
      return { type: 'fail', at, reason: event.endReason, ...(event.endedBy && { limit: event.endedBy }) }
    case 'session.held':
      return { type: 'hold', at, handoffId: event.handoffId }
    case 'session.released':
      return { type: 'release', at, handoffId: event.handoffId }
    case 'session.handed_off':
      return { type: 'hand_off', at, handoffId: event.handoffId }
    default:
      event satisfies never
      throw new ImpossibleEvent(`Nothing of the type ${JSON.stringify((event as { type: unknown }).type)} happens`)
  }
}

/** The turn as it was reported, before it had its places. */
const draftOf = ({ turn, messages }: Extract<SessionMoved, { type: 'turn.recorded' }>): TurnDraft => ({
  id: turn.id,
  usage: turn.usage,
  messages: draftsOf(messages, turn.toolCalls),
})

const draftsOf = (messages: readonly Message[], toolCalls: readonly ToolCall[]): readonly MessageDraft[] =>
  messages.map(({ id, role, origin, text, cut, providerMessageId, reports }) => {
    const content = defined({ origin, text, cut, providerMessageId, reports })
    if (role !== 'assistant') return { id, input: { role, ...content } }
    const calls = toolCalls.filter(({ messageId }) => messageId === id)
    const made = calls.map(({ callId, toolName, argument }) => defined({ callId, toolName, argument }))
    return { id, input: { role, ...content, toolCalls: made } }
  })

const handoffCommandOf = (handoff: HandoffMetadata, event: HandoffStep): HandoffCommand => {
  const { at } = event
  // The log has the store's clock only for claims. Whether one had run out when another ended the handoff is not told.
  const now = claimOf(handoff)?.deadline ?? at
  switch (event.type) {
    case 'handoff.checkpointed': {
      const { document, flags, checkpoint } = event
      return { type: 'checkpoint', at, now, flags, checkpoint, ...(document !== undefined && { document }) }
    }
    case 'handoff.accepted':
    case 'handoff.claim_renewed': {
      const { claimant: by, acceptedAt, deadline } = event.claim
      const type = event.type === 'handoff.accepted' ? 'accept' : 'renew'
      return { type, at, now: acceptedAt, by, claimMs: Date.parse(deadline) - Date.parse(acceptedAt) }
    }
    case 'handoff.prepared':
      return { type: 'prepare', at, now, by: event.by, prepared: event.prepared }
    case 'handoff.completed': {
      const { by, targetSessionId, targetConversationId: child } = event
      return { type: 'complete', at, now, by, targetSessionId, ...(child && { targetConversationId: child }) }
    }
    case 'handoff.cancelled':
      return { type: 'cancel', at, now, reason: event.endReason, ...(event.by !== undefined && { by: event.by }) }
    case 'handoff.failed':
      return { type: 'fail', at, now, reason: event.endReason, ...(event.by !== undefined && { by: event.by }) }
    default:
      event satisfies never
      throw new ImpossibleEvent(`Nothing of the type ${JSON.stringify((event as { type: unknown }).type)} happens`)
  }
}
