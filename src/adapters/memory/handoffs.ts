import { type HandoffMetadata, isOpen } from '../../domain/handoff/handoff.ts'
import { type Instant, later } from '../../domain/kernel/instant.ts'
import { containsJson } from '../../domain/kernel/metadata.ts'
import type { AgentHandoffPort } from '../../ports/store/agent-handoff-port.ts'
import type { HandoffFilter, OverdueRule } from '../../ports/store/history-filters.ts'
import { askedWords, wordsOf } from '../../ports/store/word-search.ts'
import type { Clock } from '../../ports/system/system.ts'
import { allHandoffs, pageByAge } from './all-rows.ts'
import { keptAtOf, pendingFor } from './subject-facts.ts'
import type { Tables } from './tables.ts'

const initiatedAt = (handoff: HandoffMetadata): Instant => handoff.initiatedAt

/** Handoffs, one or many. Claims are compared by the store's clock. */
export const handoffsIn = (tables: Tables, clock: Clock): AgentHandoffPort => ({
  find: async (id) => tables.handoffs.get(id),
  findOpenFor: async (source) => {
    const { session } = tables.sessions.get(source) ?? {}
    const open = session && tables.handoffs.at('open', session.conversationId)
    return open?.sourceSessionId === source ? open : undefined
  },
  listPendingFor: async (agent, page) => pageByAge(pendingFor(tables, agent, clock.now()), keptAtOf(tables), page),
  listForConversation: async (conversation, page) =>
    pageByAge(tables.handoffs.in('conversation', conversation), initiatedAt, page),
  list: async ({ order = 'oldest_first', ...filter }, page) => {
    const now = clock.now()
    const keptAt = keptAtOf(tables)
    const { overdue } = filter
    const found = allHandoffs(tables)
      .filter((handoff) => fits(handoff, filter))
      .filter((handoff) => overdue === undefined || isOverdue(handoff, overdue, { now, keptAt: keptAt(handoff) }))
    return pageByAge(found, overdue === undefined ? initiatedAt : keptAt, { ...page, order })
  },
})

const fits = (handoff: HandoffMetadata, filter: HandoffFilter): boolean => {
  const { agent, sourceAgent, targetAgent, initiatedFrom, initiatedBefore, reason } = filter
  const is = <T>(wanted: T | undefined, found: T): boolean => wanted === undefined || wanted === found
  return (
    is(filter.conversationId, handoff.conversationId) &&
    is(sourceAgent, handoff.sourceAgent) &&
    is(targetAgent, handoff.targetAgent) &&
    (is(agent, handoff.sourceAgent) || is(agent, handoff.targetAgent)) &&
    is(filter.kind, handoff.kind) &&
    is(filter.status, handoff.status) &&
    (initiatedFrom === undefined || handoff.initiatedAt >= initiatedFrom) &&
    (initiatedBefore === undefined || handoff.initiatedAt < initiatedBefore) &&
    (filter.isOpen !== true || isOpen(handoff)) &&
    (filter.metadata === undefined || containsJson(handoff.metadata, filter.metadata)) &&
    (reason === undefined || says(handoff.reason, reason))
  )
}

const says = (text: string, search: string): boolean => {
  const words = wordsOf(text)
  const wanted = askedWords(search)
  return wanted.length > 0 && wanted.every((spellings) => spellings.some((word) => words.has(word)))
}

const isOverdue = (
  handoff: HandoffMetadata,
  { unclaimedForMs }: OverdueRule,
  { now, keptAt }: { readonly now: Instant; readonly keptAt: Instant },
): boolean => {
  if (handoff.status === 'accepted') return handoff.claim.deadline <= now
  if (handoff.status !== 'initiated' || unclaimedForMs === undefined) return false
  return keptAt <= later(now, -unclaimedForMs)
}
