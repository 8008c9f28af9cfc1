import type {
  ConversationFacts,
  ConversationTail,
  HandoffFacts,
  OpeningFacts,
  ReportableThread,
  ResumeFacts,
  SourceFacts,
} from '../../domain/facts.ts'
import { type HandoffMetadata, isClaimable } from '../../domain/handoff/handoff.ts'
import { by } from '../../domain/history/lineage.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId, CommandId, ConversationId, HandoffId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { sequenceNumber } from '../../domain/kernel/sequence.ts'
import { exchangeStartOf, hasBaton } from '../../domain/session/agent-session.ts'
import type { ToolCall } from '../../domain/turn/tool-call.ts'
import type { HandoffQuestion, Question, SourceQuestion, Subjects } from '../../ports/store/unit-of-work.ts'
import { budgetUse, restartUse } from './budget-use.ts'
import { personMessagesIn } from './person-messages.ts'
import type { Tables } from './tables.ts'

/** When it is asked, and for which command. */
interface Asking {
  readonly now: Instant
  readonly command: CommandId
}

type Answers = {
  readonly [S in keyof Subjects]: (tables: Tables, asks: Subjects[S]['asks'], asking: Asking) => Subjects[S]['facts']
}

const ANSWERS: Answers = {
  opening: (tables, asks) => openingFacts(tables, asks),
  conversation: (tables, asks) => conversationFacts(tables, asks),
  session: (tables, { sessionId }, { now }) => sessionFacts(tables, sessionId, now),
  source: (tables, asks, { now }) => sourceFacts(tables, asks, now),
  handoff: (tables, asks, { now }) => withPersonMessages(tables, asks, now),
  next_handoff: (tables, { targetAgent, among = 1 }, { now, command }) =>
    handoffFacts(tables, chosenBy(command, pendingFor(tables, targetAgent, now).slice(0, among)), now),
}

/** Everything a decision needs, read in one go. */
export const factsFor = <Subject extends keyof Subjects>(
  tables: Tables,
  question: Question<Subject>,
  asking: Asking,
): Subjects[Subject]['facts'] => ANSWERS[question.about](tables, question, asking)

/** One of them, another for another command: the end of an id differs most. */
const chosenBy = <T>(command: CommandId, candidates: readonly T[]): T | undefined =>
  candidates[Number.parseInt(command.slice(-8), 16) % candidates.length]

/** When a handoff was initiated, by the clock of the store. */
export const keptAtOf =
  (tables: Tables) =>
  ({ id, initiatedAt }: HandoffMetadata): Instant =>
    tables.handoffTimes.get(id)?.keptAt ?? initiatedAt

/** Handoffs that an agent may claim now, oldest first by the clock of the store. */
export const pendingFor = (tables: Tables, targetAgent: string, now: Instant): readonly HandoffMetadata[] =>
  tables.handoffs
    .in('pending', targetAgent)
    .filter((handoff) => isClaimable(handoff, now))
    .sort(by(keptAtOf(tables), ({ id }) => id))

const openingFacts = (tables: Tables, { externalKey, parentId }: Subjects['opening']['asks']): OpeningFacts =>
  defined({
    existing: externalKey === undefined ? undefined : tables.conversations.at('externalKey', externalKey),
    parent: parentId === undefined ? undefined : tables.conversations.get(parentId),
  })

const tailOf = (tables: Tables, conversationId: ConversationId): ConversationTail => {
  const sessions = tables.sessions.in('conversation', conversationId).map(({ session }) => session)
  return {
    lastEpoch: Math.max(0, ...sessions.map(({ epoch }) => epoch)),
    nextSequence: sequenceNumber(Math.max(1, ...sessions.map(({ progress }) => progress.nextSequence))),
  }
}

const batonOf = (tables: Tables, conversationId: ConversationId) =>
  tables.sessions.in('conversation', conversationId).find(({ session }) => hasBaton(session))?.session

const conversationFacts = (
  tables: Tables,
  { conversationId: id, parentSessionId, sessionId, isBudgeted }: Subjects['conversation']['asks'],
): ConversationFacts =>
  defined({
    conversation: tables.conversations.get(id),
    baton: batonOf(tables, id),
    parentSession: tables.sessions.get(parentSessionId ?? '')?.session,
    isTaken: tables.sessions.get(sessionId ?? '')?.session.conversationId === id,
    use: isBudgeted === true ? budgetUse(tables, id) : undefined,
    ...tailOf(tables, id),
  })

const sessionFacts = (tables: Tables, id: AgentSessionId, now: Instant): ResumeFacts => {
  const working = tables.sessions.get(id)
  if (working === undefined) return { nextSequence: sequenceNumber(1) }
  const { conversationId } = working.session
  const { nextSequence } = tailOf(tables, conversationId)
  const lease = tables.leases.get(id)
  return defined({
    working,
    conversation: tables.conversations.get(conversationId),
    monitor: tables.monitors.get(id),
    lease: lease && defined({ until: lease.expiresAt, now, runner: lease.runner?.mark }),
    baton: batonOf(tables, conversationId),
    nextSequence,
  })
}

const sourceFacts = (tables: Tables, question: SourceQuestion, now: Instant): SourceFacts => {
  const { sessionId, priorTurn, toolCalls = [], maxToolCalls, externalKey, isBudgeted, reports } = question
  const working = tables.sessions.get(sessionId)
  if (working === undefined) return { namedToolCalls: [], exchangeToolCalls: [], lastToolCalls: [], now }
  const { conversationId, progress } = working.session
  const turn = tables.turns.get(priorTurn ?? progress.lastTurnId ?? '')
  const calls = tables.toolCalls.in('session', sessionId).map(({ reference }) => reference)
  const start = exchangeStartOf(working.session)
  return defined({
    working,
    monitor: tables.monitors.get(sessionId),
    now,
    conversation: tables.conversations.get(conversationId),
    priorTurnId: turn?.conversationId === conversationId ? turn.id : undefined,
    namedToolCalls: namedCalls(tables, conversationId, toolCalls),
    exchangeToolCalls: calls.filter((call) => call.sequenceNumber >= start).slice(-maxToolCalls),
    lastToolCalls: lastCalls(tables, sessionId).slice(-maxToolCalls),
    keyTakenBy: externalKey === undefined ? undefined : tables.conversations.at('externalKey', externalKey)?.id,
    restarts: isBudgeted === true ? restartUse(tables, working.session) : undefined,
    threads: reports === undefined ? undefined : threadsAmong(tables, conversationId, reports),
  })
}

/** Those of these handoffs that opened a thread from a conversation. */
const threadsAmong = (tables: Tables, conversationId: ConversationId, ids: readonly HandoffId[]) =>
  [...new Set(ids)]
    .flatMap((id) => tables.handoffs.get(id) ?? [])
    .filter((handoff) => handoff.kind === 'thread' && handoff.conversationId === conversationId)
    .map(({ id: handoffId }): ReportableThread => {
      const isReported = tables.messages.at('report', handoffId) !== undefined
      return { handoffId, isReported }
    })

/** The latest use of each of these calls in a conversation, in order. */
export const namedCalls = (
  tables: Tables,
  conversationId: ConversationId,
  callIds: readonly string[],
): readonly ToolCall[] =>
  callIds
    .flatMap((callId) => tables.toolCalls.in('call', `${conversationId}/${callId}`).at(-1) ?? [])
    .sort(
      by(
        ({ reference }) => reference.sequenceNumber,
        ({ position }) => position,
      ),
    )
    .map(({ reference }) => reference)

const lastCalls = (tables: Tables, sessionId: AgentSessionId): readonly ToolCall[] =>
  tables.turns.in('session', sessionId).findLast(({ toolCalls }) => toolCalls.length > 0)?.toolCalls ?? []

const withPersonMessages = (tables: Tables, { handoffId, personMessages }: HandoffQuestion, now: Instant) => {
  const facts = handoffFacts(tables, tables.handoffs.get(handoffId), now)
  const { handoff } = facts
  if (personMessages === undefined || handoff === undefined) return facts
  return { ...facts, personMessages: personMessagesIn(tables, handoff.conversationId, personMessages) }
}

const handoffFacts = (tables: Tables, handoff: HandoffMetadata | undefined, now: Instant): HandoffFacts => {
  if (handoff === undefined) return { now, lastEpoch: 0, nextSequence: sequenceNumber(1) }
  const { conversationId, sourceSessionId } = handoff
  const source = tables.sessions.get(sourceSessionId)
  return defined({
    handoff,
    conversation: tables.conversations.get(conversationId),
    source,
    monitor: tables.monitors.get(sourceSessionId),
    now,
    ...tailOf(tables, conversationId),
  })
}
