import type { LookBackHit, LookBackPlace } from '../../domain/history/look-back.ts'
import {
  BEFORE_THE_MATCH,
  firstPlace,
  type LookBackRead,
  type LookBackWanted,
  passageIn,
  saysAll,
  saysAny,
  withoutCase,
} from '../../domain/history/look-back-search.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId, ConversationId } from '../../domain/kernel/ids.ts'
import type { LookBackInHistory, LookBackRecord } from '../../domain/session/looked-back.ts'
import type { Message } from '../../domain/turn/message.ts'
import type { ToolCallRecord } from '../../domain/turn/tool-call.ts'
import type { LookBackPort } from '../../ports/store/look-back-port.ts'
import { pageBy } from './paging.ts'
import type { Tables } from './tables.ts'

const utf8 = new TextEncoder()

/** Answers from the record, and the questions that were asked. */
export const lookBacksIn = (tables: Tables): LookBackPort => ({
  read: async (wanted) => readLookBack(tables, wanted),
  listForConversation: async (conversation, page) => {
    const rows = tables.lookBacks.in('conversation', conversation).map((row) => inHistory(tables, row))
    return pageBy(rows, ({ askedAt, id }) => `${askedAt} ${id}`, page)
  },
  countFor: async (sessions) => {
    const counts = new Map<AgentSessionId, number>()
    for (const id of new Set(sessions)) {
      const count = tables.lookBacks.in('session', id).length
      if (count > 0) counts.set(id, count)
    }
    return counts
  },
})

const inHistory = (tables: Tables, row: LookBackRecord): LookBackInHistory => {
  const session = tables.sessions.get(row.sessionId)?.session
  return defined({ ...row, epoch: session?.epoch ?? 0, handoffId: session?.initiatedByHandoff })
}

const readLookBack = (tables: Tables, wanted: LookBackWanted): LookBackRead | undefined => {
  const { scope, question } = wanted
  const asking = 'sessionId' in scope ? tables.sessions.get(scope.sessionId)?.session : undefined
  const conversation =
    'sessionId' in scope ? asking?.conversationId : tables.conversations.get(scope.conversationId)?.id
  if (conversation === undefined) return undefined
  if (question.by === 'call') return readCall(tables, conversation, wanted, question.callId)
  if (question.by === 'turn') return readTurn(tables, conversation, wanted, question)
  return search(tables, conversation, wanted, asking?.progress.window.range?.start)
}

const readCall = (
  tables: Tables,
  conversation: ConversationId,
  wanted: LookBackWanted,
  callId: string,
): LookBackRead => {
  const made = tables.toolCalls.in('call', `${conversation}/${callId}`)
  const call = made.reduce<ToolCallRecord | undefined>(
    (latest, next) => (latest === undefined || next.sequenceNumber > latest.sequenceNumber ? next : latest),
    undefined,
  )
  if (call === undefined) return { found: [], isMore: false }
  const after = call.sequenceNumber
  const result = tables.messages
    .in('conversation', conversation)
    .filter(({ sequenceNumber: at }) => at > after && at <= after + wanted.bounds.resultWithin)
    .filter(({ role, providerMessageId }) => role === 'tool' && providerMessageId === callId)
    .reduce<Message | undefined>(
      (first, next) => (first && first.sequenceNumber < next.sequenceNumber ? first : next),
      undefined,
    )
  const messages = [tables.messages.at('sequence', `${conversation}/${after}`), result].flatMap(
    (message) => message ?? [],
  )
  const found = fromPoint(messages, wanted).map((message) =>
    hitOf(tables, message, wanted, message === result ? [] : [call]),
  )
  return defined({ found, isMore: false, isResultMissing: result === undefined ? (true as const) : undefined })
}

const readTurn = (
  tables: Tables,
  conversation: ConversationId,
  wanted: LookBackWanted,
  { epoch, turn: number }: { readonly epoch: number; readonly turn: number },
): LookBackRead => {
  const session = tables.sessions.at('epoch', `${conversation}/${epoch}`)?.session
  const turn = session && tables.turns.at('number', `${session.id}/${number}`)
  if (session === undefined || (number > 0 && turn === undefined)) return { found: [], isMore: false }
  const messages = tables.messages
    .in('conversation', conversation)
    .filter(({ sessionId, turnId }) => sessionId === session.id && turnId === turn?.id)
    .toSorted((a, b) => a.sequenceNumber - b.sequenceNumber)
  const left = fromPoint(messages, wanted)
  const found = left.slice(0, wanted.bounds.messages)
  return { found: found.map((message) => hitOf(tables, message, wanted)), isMore: left.length > found.length }
}

const fromPoint = (messages: readonly Message[], { from }: LookBackWanted): readonly Message[] =>
  messages.filter(({ sequenceNumber }) => from === undefined || sequenceNumber >= from.sequenceNumber)

const search = (
  tables: Tables,
  conversation: ConversationId,
  wanted: LookBackWanted,
  windowStart: number | undefined,
): LookBackRead => {
  const { bounds, from } = wanted
  const before = Math.min(from?.sequenceNumber ?? Number.MAX_SAFE_INTEGER, windowStart ?? Number.MAX_SAFE_INTEGER)
  const older = tables.messages
    .in('conversation', conversation)
    .filter(({ sequenceNumber }) => sequenceNumber < before)
    .toSorted((a, b) => b.sequenceNumber - a.sequenceNumber)
  const found: LookBackHit[] = []
  let bytes = 0
  let looked = 0
  for (const message of older) {
    if (looked === bounds.searched || bytes >= bounds.searchedBytes || found.length === bounds.messages) break
    looked += 1
    bytes += utf8.encode(message.text).length
    if (matches(tables, message, wanted)) found.push(hitOf(tables, message, wanted))
  }
  const last = looked < older.length ? older[looked - 1] : undefined
  return defined({ found, isMore: false, searchedBackTo: last && placeOf(tables, last) })
}

const matches = (tables: Tables, message: Message, { question, needles }: LookBackWanted): boolean => {
  const named = callsOf(tables, message).map(callText)
  const isSearched = question.by === 'words' || message.role === 'tool'
  return saysAll(isSearched ? [withoutCase(message.text), ...named] : named, needles)
}

const callText = ({ toolName, argument = '' }: ToolCallRecord): string => withoutCase(`${toolName}\n${argument}`)

const callsOf = (
  tables: Tables,
  { role, conversationId, sequenceNumber, sessionId }: Message,
): readonly ToolCallRecord[] =>
  role !== 'assistant'
    ? []
    : tables.toolCalls
        .in('session', sessionId)
        .filter((call) => call.conversationId === conversationId && call.sequenceNumber === sequenceNumber)

const placeOf = (tables: Tables, { sessionId, sequenceNumber, recordedAt, turnId }: Message): LookBackPlace =>
  defined({
    sessionId,
    epoch: tables.sessions.get(sessionId)?.session.epoch ?? 0,
    turn: turnId === undefined ? undefined : tables.turns.get(turnId)?.number,
    sequenceNumber,
    recordedAt,
  })

const hitOf = (
  tables: Tables,
  message: Message,
  wanted: LookBackWanted,
  only?: readonly ToolCallRecord[],
): LookBackHit => {
  const { bounds, needles, from } = wanted
  const isSearch = needles.length > 0
  const all = only ?? callsOf(tables, message).filter((call) => !isSearch || saysAny(callText(call), needles))
  const calls = all.slice(0, bounds.calls)
  const place = isSearch ? (firstPlace(withoutCase(message.text), needles) ?? 0) - BEFORE_THE_MATCH : 0
  const offset = from?.sequenceNumber === message.sequenceNumber && !isSearch ? from.offset : Math.max(0, place)
  const passage = passageIn(message.text, { from: offset, most: isSearch ? bounds.excerpt : bounds.characters })
  return defined({
    ...placeOf(tables, message),
    role: message.role,
    origin: message.origin,
    calls: calls.map(({ callId, toolName, argument }) => defined({ callId, toolName, argument })),
    callsLeftOut: all.length > calls.length ? all.length - calls.length : undefined,
    answers: message.role === 'tool' ? message.providerMessageId : undefined,
    passage: defined({ ...passage, cutFrom: message.cut?.length }),
  })
}
