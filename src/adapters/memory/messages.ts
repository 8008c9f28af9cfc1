import type { WindowAtTurn } from '../../domain/history/window-at-turn.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { sequenceRange } from '../../domain/kernel/sequence.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { type Message, type MessageInHistory, sessionOpening } from '../../domain/turn/message.ts'
import { countRoles } from '../../domain/turn/message-summary.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import type { MessageRepository } from '../../ports/store/message-repository.ts'
import type { Page, Paged } from '../../ports/store/page.ts'
import { numberKey, pageBy } from './paging.ts'
import { personMessagesIn } from './person-messages.ts'
import { namedCalls } from './subject-facts.ts'
import type { Tables } from './tables.ts'

/** Messages and turns, and what a window held after one. */
export const messagesIn = (tables: Tables): MessageRepository => ({
  findTurn: async (id) => tables.turns.get(id),
  findWindowAt: async (id) => {
    const turn = tables.turns.get(id)
    return turn && windowAt(tables, turn)
  },
  findOpening: async (id) => {
    const session = tables.sessions.get(id)?.session
    return session && sessionOpening(openingMessages(tables, session))
  },
  listLatest: async (id, most) => {
    const session = tables.sessions.get(id)?.session
    const all = session === undefined ? [] : tables.messages.in('conversation', session.conversationId)
    const spoken = all.filter(({ sessionId, turnId }) => sessionId === id && turnId !== undefined)
    return most > 0 ? spoken.slice(-most) : []
  },
  findToolCalls: async (conversation, callIds) => namedCalls(tables, conversation, [...new Set(callIds)]),
  findPersonMessages: async (conversation, wanted) => personMessagesIn(tables, conversation, wanted),
  listTurns: async (session, page) =>
    pageBy(tables.turns.in('session', session), ({ number }) => numberKey(number), page),
  listMessages: async (conversation, page) =>
    historyPage(tables, tables.messages.in('conversation', conversation), page),
  listSessionMessages: async (id, page) => {
    const conversation = tables.sessions.get(id)?.session.conversationId
    const all = conversation === undefined ? [] : tables.messages.in('conversation', conversation)
    return historyPage(
      tables,
      all.filter(({ sessionId }) => sessionId === id),
      page,
    )
  },
})

const openingMessages = (tables: Tables, { id, conversationId, startSequence }: AgentSession): readonly Message[] => {
  const messages: Message[] = []
  for (let at: number = startSequence; ; at += 1) {
    const next = tables.messages.at('sequence', `${conversationId}/${at}`)
    if (next?.sessionId !== id || next.turnId !== undefined) return messages
    messages.push(next)
  }
}

const windowAt = (tables: Tables, turn: Turn): WindowAtTurn => {
  const { id: turnId, conversationId, sessionId, number: turnNumber, recordedAt, usage } = turn
  const { start, end } = turn.range
  // A compaction that was reported took everything before it out of the window.
  const truncatedTo = tables.snapshots
    .in('session', sessionId)
    .filter(({ type, range }) => type === 'truncation' && range !== undefined && range.end < start)
    .reduce((last, { range }) => Math.max(last, range?.end ?? 0), 0)
  const held = tables.messages
    .in('conversation', conversationId)
    .filter((message) => message.sessionId === sessionId && message.sequenceNumber <= end)
    .filter((message) => message.sequenceNumber > truncatedTo)
  const calls = tables.toolCalls.in('session', sessionId).map(({ reference }) => reference)
  return {
    conversationId,
    sessionId,
    turnId,
    turnNumber,
    recordedAt,
    usage,
    messages: countRoles(held.map(({ role }) => role)),
    range: sequenceRange(Math.min(...held.map(({ sequenceNumber }) => sequenceNumber)), end),
    visibleToolCalls: calls.filter(({ sequenceNumber }) => sequenceNumber > truncatedTo && sequenceNumber <= end),
  }
}

const historyPage = (tables: Tables, rows: readonly Message[], page: Page): Paged<MessageInHistory> => {
  const { items, next } = pageBy(rows, ({ sequenceNumber }) => numberKey(sequenceNumber), page)
  return defined({ items: items.map((message) => inHistory(tables, message)), next })
}

/** Joins a message with the handoffs it has to do with. */
const inHistory = (tables: Tables, message: Message): MessageInHistory => {
  const { sessionId, turnId } = message
  const isFirst = turnId === undefined || tables.turns.get(turnId)?.number === 1
  const led = turnId === undefined ? [] : tables.handoffs.in('priorTurn', turnId)
  return {
    ...message,
    metadata: defined({
      sessionId,
      ledTo: led.at(-1)?.id,
      continues: isFirst ? tables.sessions.get(sessionId)?.session.initiatedByHandoff : undefined,
    }),
  }
}
