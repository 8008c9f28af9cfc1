import type { BudgetLimit } from '../budget/restart-budget.ts'
import { defined } from '../kernel/defined.ts'
import type { HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { advance, type SequenceNumber } from '../kernel/sequence.ts'
import { nextState } from '../kernel/state-machine.ts'
import type { Refusal } from '../refusal.ts'
import type { Message } from '../turn/message.ts'
import { countRoles, EMPTY_SUMMARY } from '../turn/message-summary.ts'
import { type MessageDraft, placeMessages, placeTurn, type TurnDraft } from '../turn/turn.ts'
import { UNKNOWN_USAGE, type UsageReading, type UsageTotals } from '../window/usage-reading.ts'
import {
  type AgentSession,
  type ContextWindow,
  heldBy,
  SESSION_TRANSITIONS,
  type SessionCommandType,
  type SessionEnd,
  type SessionLifecycle,
  type SessionProgress,
  type SessionRuntime,
  type SessionState,
  sessionIdentityOf,
} from './agent-session.ts'
import type { SessionMoved, SessionStarted } from './session-event.ts'

/** A command on a session. */
export type SessionCommand = { readonly at: Instant } & (
  | { readonly type: 'record_turn'; readonly turn: TurnDraft }
  | { readonly type: 'extend_turn'; readonly messages: readonly MessageDraft[] }
  | { readonly type: 'resume'; readonly nextSequence: SequenceNumber }
  | { readonly type: 'take_over'; readonly isAbandoned?: true }
  | { readonly type: 'truncate' }
  | { readonly type: 'attach'; readonly providerSessionId: string }
  | { readonly type: 'account'; readonly totals: UsageTotals }
  | { readonly type: 'pause' }
  | { readonly type: 'complete' }
  | { readonly type: 'fail'; readonly reason: string; readonly limit?: BudgetLimit }
  | { readonly type: 'hold' | 'release' | 'hand_off'; readonly handoffId: HandoffId }
)

const BY_HAND: readonly SessionCommandType[] = ['pause', 'resume', 'complete', 'fail']
const BY_HANDOFF: readonly SessionCommandType[] = ['release', 'hand_off']

/** May this command happen now? Answers with the fact to record, or the reason it may not. */
export const decideSession = (session: AgentSession, command: SessionCommand): Result<SessionMoved, Refusal> => {
  const holder = heldBy(session)
  if (holder !== undefined && BY_HAND.includes(command.type)) {
    return err({ code: 'session.held', sessionId: session.id, handoffId: holder, command: command.type })
  }
  const to = nextState<SessionState, SessionCommandType>(SESSION_TRANSITIONS, session.state, command.type)
  // A launch that came to nothing may be made again under another name; what has spoken keeps its own.
  if (command.type === 'attach' && session.providerSessionId !== undefined && session.progress.turns > 0)
    return err({ code: 'session.attached', sessionId: session.id, providerSessionId: session.providerSessionId })
  const byItsHandoff = 'handoffId' in command && command.handoffId === holder
  // A session that was paused by hand is not being handed off: its next message is a new turn, once it is resumed.
  const { lastTurnId, lastSequence, nextSequence } = session.progress
  const isLeft = holder !== undefined && lastTurnId !== undefined
  if (command.type === 'extend_turn' && !isLeft) return err(refuse(session, command.type))
  // The messages of a turn have no others between them, and somebody else may have spoken while it was paused.
  if (
    command.type === 'extend_turn' &&
    isLeft &&
    (lastSequence === undefined || advance(lastSequence, 1) !== nextSequence)
  )
    return err({ code: 'turn.not_last', sessionId: session.id, turnId: lastTurnId })
  if (to === undefined || (BY_HANDOFF.includes(command.type) && !byItsHandoff))
    return err(refuse(session, command.type))
  return ok(factOf(session, command))
}

const refuse = (session: AgentSession, command: SessionCommandType): Refusal =>
  command === 'record_turn' || command === 'hold'
    ? defined({
        code: 'session.not_active' as const,
        sessionId: session.id,
        state: session.state,
        heldBy: heldBy(session),
      })
    : { code: 'session.illegal_transition', sessionId: session.id, from: session.state, command }

const factOf = (session: AgentSession, command: SessionCommand): SessionMoved => {
  const about = { version: 1, conversationId: session.conversationId, sessionId: session.id, at: command.at } as const
  switch (command.type) {
    case 'record_turn':
      return { type: 'turn.recorded', ...about, ...placeTurn(command.turn, nextPlace(session, command.at)) }
    case 'extend_turn':
      return { type: 'turn.extended', ...about, ...extension(session, command) }
    case 'take_over':
      return { type: 'session.taken_over', ...about, ...(command.isAbandoned && { isAbandoned: true }) }
    case 'truncate':
      return { type: 'session.truncated', ...about }
    case 'attach':
      return { type: 'session.attached', ...about, providerSessionId: command.providerSessionId }
    case 'account':
      return { type: 'session.accounted', ...about, totals: command.totals }
    case 'pause':
      return { type: 'session.paused', ...about }
    case 'resume':
      return { type: 'session.resumed', ...about, nextSequence: command.nextSequence }
    case 'complete':
      return { type: 'session.completed', ...about }
    case 'fail':
      return { type: 'session.failed', ...about, endReason: command.reason, ...defined({ endedBy: command.limit }) }
    case 'hold':
      return { type: 'session.held', ...about, handoffId: command.handoffId }
    case 'release':
      return { type: 'session.released', ...about, handoffId: command.handoffId }
    case 'hand_off':
      return { type: 'session.handed_off', ...about, handoffId: command.handoffId }
    default:
      return command satisfies never
  }
}

const extension = (session: AgentSession, { messages, at }: Extract<SessionCommand, { type: 'extend_turn' }>) => {
  const { lastTurnId: turnId } = session.progress
  if (turnId === undefined) throw new TypeError('Only a session that has spoken is left')
  return { turnId, ...placeMessages(messages, turnId, nextPlace(session, at)) }
}

const nextPlace = ({ conversationId, id, progress }: AgentSession, at: Instant) => ({
  conversationId,
  sessionId: id,
  number: progress.turns + 1,
  start: progress.nextSequence,
  at,
})

const EMPTY_WINDOW: ContextWindow = { messages: EMPTY_SUMMARY, usage: UNKNOWN_USAGE }

/** The session right after its start. */
export const beginSession = ({ session, providerSessionId, opening }: SessionStarted): AgentSession => {
  const empty: SessionProgress = {
    turns: 0,
    nextSequence: session.startSequence,
    window: EMPTY_WINDOW,
  }
  const progress = opening === undefined ? empty : withMessages(empty, opening, UNKNOWN_USAGE)
  return { ...session, ...defined({ providerSessionId }), version: 1, progress, state: 'active' }
}

/** The session after the event. Never refuses. */
export const evolveSession = (session: AgentSession, event: SessionMoved): AgentSession => {
  if (event.type === 'session.metadata_set') {
    const { metadata: _, ...rest } = session
    return { ...rest, ...defined({ metadata: event.metadata }) }
  }
  return {
    ...sessionIdentityOf(session),
    version: session.version + 1,
    progress: progressAfter(session.progress, event),
    ...runtimeAfter(session, event),
    ...lifecycleAfter(session, event),
  }
}

/** The events that change the version of a session. A note does not. */
type SessionStep = Exclude<SessionMoved, { type: 'session.metadata_set' }>

const runtimeAfter = ({ providerSessionId, totals, takeovers }: AgentSession, event: SessionStep): SessionRuntime =>
  defined({
    providerSessionId: event.type === 'session.attached' ? event.providerSessionId : providerSessionId,
    totals: event.type === 'session.accounted' ? event.totals : totals,
    takeovers: event.type === 'session.taken_over' && event.isAbandoned === true ? (takeovers ?? 0) + 1 : takeovers,
  })

const progressAfter = (progress: SessionProgress, event: SessionStep): SessionProgress => {
  if (event.type === 'session.resumed') return { ...progress, nextSequence: event.nextSequence }
  if (event.type === 'session.truncated') return { ...progress, window: EMPTY_WINDOW }
  // What the request said of the window stays: nothing was asked since.
  if (event.type === 'turn.extended') return withMessages(progress, event.messages, progress.window.usage)
  if (event.type !== 'turn.recorded') return progress
  const { turn, messages } = event
  return { ...withMessages(progress, messages, turn.usage), turns: turn.number, lastTurnId: turn.id }
}

const withMessages = (
  progress: SessionProgress,
  messages: readonly Message[],
  usage: UsageReading,
): SessionProgress => {
  const first = messages[0]?.sequenceNumber ?? progress.nextSequence
  const last = advance(progress.nextSequence, messages.length - 1)
  const { window, exchangeStart } = progress
  return defined({
    ...progress,
    nextSequence: advance(last, 1),
    lastSequence: last,
    exchangeStart: messages.findLast(({ role }) => role === 'user')?.sequenceNumber ?? exchangeStart,
    window: {
      messages: countRoles(
        messages.map(({ role }) => role),
        window.messages,
      ),
      range: { start: window.range?.start ?? first, end: last },
      usage,
    },
  })
}

const lifecycleAfter = (session: AgentSession, event: SessionStep): SessionLifecycle => {
  const end: SessionEnd = defined({ endedAt: event.at, endSequence: session.progress.lastSequence })
  switch (event.type) {
    case 'turn.recorded':
    case 'session.resumed':
    case 'session.released':
      return { state: 'active' }
    case 'session.paused':
      return { state: 'paused' }
    case 'session.held':
      return { state: 'paused', heldBy: event.handoffId }
    case 'session.taken_over':
    case 'session.attached':
    case 'session.accounted':
    case 'session.truncated':
    case 'turn.extended':
      return session.state === 'paused'
        ? defined({ state: 'paused' as const, heldBy: session.heldBy })
        : { state: 'active' }
    case 'session.completed':
      return { state: 'completed', ...end }
    case 'session.failed':
      return { state: 'failed', endReason: event.endReason, ...defined({ endedBy: event.endedBy }), ...end }
    case 'session.handed_off':
      return { state: 'handed_off', terminatedByHandoff: event.handoffId, ...end }
    default:
      return event satisfies never
  }
}
