import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import type { HandoffKind } from '../../src/domain/handoff/handoff.ts'
import { agentSessionId, handoffId, messageId, turnId } from '../../src/domain/kernel/ids.ts'
import { type Instant, later } from '../../src/domain/kernel/instant.ts'
import { referenceTo } from '../../src/domain/turn/tool-call.ts'
import { placeTurn, type TurnDraft } from '../../src/domain/turn/turn.ts'
import type { MonitorSettings } from '../../src/domain/window/context-monitor.ts'
import { UNKNOWN_USAGE, type UsageReading } from '../../src/domain/window/usage-reading.ts'
import { AT, CONVERSATION, conversationOf, uuid } from '../domain/samples.ts'
import type { Told } from './decider.ts'

const about = { version: 1, conversationId: CONVERSATION, at: AT } as const

export const conversationOpened =
  (over: Partial<Conversation> = {}): Told =>
  () => ({ type: 'conversation.opened', ...about, conversation: conversationOf(over) })

export const conversationClosed = (): Told => () => ({ type: 'conversation.closed', ...about })

/** A session begins to work where the conversation stands. */
export const sessionStarted =
  (agentName = 'claude-code'): Told =>
  ({ lastEpoch, nextSequence: startSequence }) => {
    const epoch = lastEpoch + 1
    const agent = { agentName, backend: 'scripted', startSequence, startedAt: AT, epoch }
    const session = { id: agentSessionId(uuid(200 + epoch)), conversationId: CONVERSATION, ...agent }
    return { type: 'session.started', ...about, session }
  }

/** The parts of a turn that a story tells: what a person asked, the tools that were used, how full the window was after. */
export interface Said {
  readonly asks?: string
  readonly tools?: readonly string[]
  /** In percent. */
  readonly full?: number
}

/** A turn as it is reported; its number makes its ids. */
export const turnOf = (number: number, { asks, tools = [], full }: Said): TurnDraft => {
  const toolCalls = tools.map((toolName, index) => ({ callId: `call-${number}-${index + 1}`, toolName }))
  const prompt = { id: messageId(uuid(400 + number)), input: { role: 'user' as const, text: asks ?? '' } }
  const answer = { id: messageId(uuid(500 + number)), input: { role: 'assistant' as const, text: 'Done.', toolCalls } }
  const usage: UsageReading = full === undefined ? UNKNOWN_USAGE : { state: 'percentage', usedPercent: full }
  return { id: turnId(uuid(300 + number)), messages: asks === undefined ? [answer] : [prompt, answer], usage }
}

export const turnRecorded =
  (said: Said = {}): Told =>
  (past) => {
    const { id: sessionId, progress } = past.session
    const draft = turnOf(past.turns.length + 1, said)
    const place = { ...about, sessionId, number: progress.turns + 1, start: progress.nextSequence }
    return { type: 'turn.recorded', ...about, sessionId, ...placeTurn(draft, place) }
  }

export const sessionPaused = (): Told => (past) => ({ type: 'session.paused', ...about, sessionId: past.session.id })

export const sessionCompleted = (): Told => (past) => ({
  type: 'session.completed',
  ...about,
  sessionId: past.session.id,
})

/** A handoff was initiated, and holds its source. */
export const handoffInitiated =
  ({
    targetAgent = 'opus',
    kind = 'agent_transfer',
    document,
  }: {
    readonly targetAgent?: string
    readonly kind?: HandoffKind
    readonly document?: string
  } = {}): Told =>
  (past) => {
    const { id: sourceSessionId, agentName: sourceAgent, progress } = past.session
    const id = handoffId(uuid(600 + past.events.length))
    const origin = {
      id,
      kind,
      ...(document !== undefined && { document }),
      conversationId: CONVERSATION,
      sourceSessionId,
      sourceAgent,
      targetAgent,
      initiatedAt: AT,
    }
    const handoff = {
      ...origin,
      reason: 'Nearly full',
      priorTurnId: progress.lastTurnId as never,
      triggeringToolCalls: past.sourceFacts().exchangeToolCalls.map(referenceTo),
      flags: [],
    }
    return [
      { type: 'handoff.initiated', ...about, handoff },
      { type: 'session.held', ...about, sessionId: sourceSessionId, handoffId: id },
    ]
  }

/** The latest handoff was claimed for a minute. */
export const handoffAccepted =
  (by = 'worker-1'): Told =>
  (past) => ({
    type: 'handoff.accepted',
    ...about,
    handoffId: past.handoff.id,
    claim: { claimant: by, acceptedAt: AT, deadline: later(AT, 60_000) },
  })

/** How the window of the session is watched. No event tells of it. */
export const watched =
  (watch: MonitorSettings): Told =>
  (past) => {
    past.watch = watch
    return []
  }

/** The holder of the session promised to be heard of until then. No event tells of it. */
export const leased =
  (until: Instant): Told =>
  (past) => {
    past.lease = { until, now: past.now }
    return []
  }
