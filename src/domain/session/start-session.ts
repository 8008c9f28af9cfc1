import { type Decided, type DecisionDraft, newDraft } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, MessageId, SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { noteOf } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import { advance } from '../kernel/sequence.ts'
import type { Refusal } from '../refusal.ts'
import type { Message, MessageOrigin } from '../turn/message.ts'
import {
  type ContextMonitor,
  type MonitorSettings,
  type MonitorStart,
  newMonitor,
  UNCHOSEN_POLICY,
} from '../window/context-monitor.ts'
import { MONITOR } from '../window/monitor-aggregate.ts'
import { monitorSet } from '../window/monitor-reports.ts'
import { type AgentSession, heldBy, type SessionIdentity, type WorkingSession } from './agent-session.ts'
import type { LeaseAsked } from './process-identity.ts'
import { SESSION } from './session-aggregate.ts'
import { grantLease } from './session-lease.ts'
import { takeSnapshot } from './snapshot-aggregate.ts'
import type { HolderProof } from './stored-session.ts'

/** A request to start a session. */
export interface StartSession extends LeaseAsked {
  readonly conversationId: ConversationId
  /** A new id chosen in advance, for who has to name the session before it is there. */
  readonly sessionId?: AgentSessionId
  readonly agentName: string
  /** The kind of runtime, such as `claude_agent_sdk`. */
  readonly backend: string
  readonly model?: string
  readonly providerSessionId?: string
  /** The session that started this one, in any conversation; it must exist. */
  readonly parentSessionId?: AgentSessionId
  /** The prompt of a person: the message the session opens with. */
  readonly prompt?: string
  /** The output of hooks; it stands before everything else, as a message of its own. */
  readonly hookContext?: string
  /** The text that Batonpass made from the record for a session that continues work; it stands before the prompt. */
  readonly continuation?: string
  /** How its window is watched. */
  readonly monitor?: MonitorSettings
  /** The caller's own note. */
  readonly metadata?: Metadata
}

/** The answer to starting a session: pass it back, and the next command needs no read. */
export interface SessionStartedAnswer extends WorkingSession {
  readonly monitor: ContextMonitor
}

/** The ids a new session needs. */
export interface NewSessionIds {
  readonly sessionId: AgentSessionId
  readonly holder: HolderProof
  readonly snapshotId: SnapshotId
  readonly openingId: MessageId
}

/** The ids of a session that is started by hand: what stands before its prompt are messages of their own. */
export interface StartingIds extends NewSessionIds {
  readonly hookContextId?: MessageId
  readonly continuationId?: MessageId
}

/** Starts a session, if nobody has the conversation's baton. */
export const startSession = (
  facts: ConversationFacts,
  request: StartSession,
  { ids, at, watch }: { readonly ids: StartingIds; readonly at: Instant; readonly watch?: MonitorStart },
): Decided<SessionStartedAnswer> => {
  const { conversationId, agentName, backend, model, providerSessionId, parentSessionId, leaseMs, runner } = request
  const obstacle = obstacleTo(facts, request)
  if (obstacle !== undefined) return err(obstacle)
  const draft = newDraft()
  // Others may have come, spoken and gone since the facts were read, and left the baton free again.
  const { nextSequence } = facts
  draft.effect({ type: 'expect_open', conversationId }, { type: 'expect_tail', conversationId, nextSequence })
  const described = defined({ conversationId, agentName, backend, model, parentSessionId, ...noteOf(request.metadata) })
  const place = { epoch: facts.lastEpoch + 1, startSequence: nextSequence, startedAt: at }
  const identity = { id: request.sessionId ?? ids.sessionId, ...described, ...place }
  const settings = { ...watch, ...request.monitor }
  const started = newSession(draft, identity, ids, {
    ...defined({ providerSessionId, leaseMs, runner }),
    opening: openingOf(request, ids),
    watch: settings,
  })
  // A monitor does not show whether this policy was chosen or is the default, and a run that takes over must know.
  if (settings.policy === UNCHOSEN_POLICY) draft.log(monitorSet(started.monitor, settings, at))
  return draft.finish(started)
}

const openingOf = (
  { hookContext, continuation, prompt }: StartSession,
  { hookContextId, continuationId, openingId }: StartingIds,
): readonly OpeningPart[] => [
  ...partOf(hookContextId, hookContext, 'hook'),
  ...partOf(continuationId, continuation, 'batonpass'),
  ...partOf(openingId, prompt, 'person'),
]

const partOf = (id: MessageId | undefined, text: string | undefined, origin: MessageOrigin): readonly OpeningPart[] =>
  id === undefined || text === undefined ? [] : [{ id, text, origin }]

const obstacleTo = (facts: ConversationFacts, request: StartSession): Refusal | undefined => {
  const { conversationId, parentSessionId, sessionId } = request
  const { conversation, baton, parentSession, isTaken } = facts
  if (conversation === undefined) return { code: 'conversation.not_found', conversationId }
  if (conversation.closedAt !== undefined)
    return { code: 'conversation.closed', conversationId, since: conversation.closedAt }
  if (baton !== undefined) return batonTaken(baton)
  if (parentSessionId !== undefined && parentSession === undefined)
    return { code: 'session.not_found', sessionId: parentSessionId }
  if (isTaken !== true || sessionId === undefined) return undefined
  return {
    code: 'input.invalid',
    fields: [{ field: 'sessionId', problem: 'the conversation already has that session' }],
  }
}

/** Why nobody can start while this session has the baton. */
export const batonTaken = (baton: AgentSession): Refusal => {
  const { conversationId, id: sessionId, agentName } = baton
  const handoffId = heldBy(baton)
  return handoffId === undefined
    ? { code: 'conversation.session_active', conversationId, sessionId, agentName }
    : { code: 'conversation.handoff_open', conversationId, handoffId }
}

/** One of the messages that a session opens with. */
export interface OpeningPart {
  readonly id: MessageId
  readonly text: string
  readonly origin: MessageOrigin
}

/** The opening of a new session. */
export interface NewSessionOpening extends LeaseAsked {
  readonly opening: readonly OpeningPart[]
  readonly providerSessionId?: string
  readonly watch?: MonitorStart
}

/** Begins a session, with the messages it opens with and the first snapshot of its window. */
export const newSession = (
  draft: DecisionDraft,
  identity: SessionIdentity,
  ids: NewSessionIds,
  { opening: said, watch, providerSessionId, ...lease }: NewSessionOpening,
): SessionStartedAnswer => {
  const { id: sessionId, conversationId, startedAt: at } = identity
  const opening = said.length === 0 ? undefined : said.map((part, index) => openingMessage(identity, part, index))
  const about = { type: 'session.started', version: 1, conversationId, at } as const
  const begun = draft.begin(SESSION, defined({ ...about, session: identity, providerSessionId, opening }))
  const { session } = begun
  const { token: holder, digest } = ids.holder
  draft.move(SESSION, begun, { session, holder: digest })
  const monitor = newMonitor({ conversationId, sessionId }, watch)
  draft.add(MONITOR, monitor)
  takeSnapshot(draft, session, { id: ids.snapshotId, type: 'session_start', at })
  grantLease(draft, { session, holder: digest }, lease)
  return { session, holder, monitor }
}

const openingMessage = (
  { id: sessionId, conversationId, startSequence, startedAt: recordedAt }: SessionIdentity,
  { id, text, origin }: OpeningPart,
  index: number,
): Message => ({
  id,
  conversationId,
  sessionId,
  sequenceNumber: advance(startSequence, index),
  role: 'user',
  origin,
  text,
  recordedAt,
})
