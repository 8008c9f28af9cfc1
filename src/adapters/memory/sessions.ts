import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { containsJson } from '../../domain/kernel/metadata.ts'
import { type AgentSession, isTerminal } from '../../domain/session/agent-session.ts'
import type { AgentSessionRepository } from '../../ports/store/agent-session-repository.ts'
import type { Page } from '../../ports/store/page.ts'
import {
  MOST_SIGNALS_COUNTED,
  type UnfinishedPage,
  type UnfinishedSession,
} from '../../ports/store/unfinished-session.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import type { Clock } from '../../ports/system/system.ts'
import { allSessions, pageByAge } from './all-rows.ts'
import { heldLease } from './leases.ts'
import { numberKey, pageBy } from './paging.ts'
import { queuedFor } from './signals.ts'
import type { Tables } from './tables.ts'

/** Sessions, one or many. */
export const sessionsIn = (tables: Tables, clock: Clock): AgentSessionRepository => ({
  find: async (id) => tables.sessions.get(id)?.session,
  isHeldBy: async (id, holder) => tables.sessions.get(id)?.holder === tokenDigest(holder),
  findActive: async (conversation) => {
    const baton = tables.sessions.at('baton', conversation)?.session
    return baton?.state === 'active' ? baton : undefined
  },
  findBaton: async (conversation) => tables.sessions.at('baton', conversation)?.session,
  findLatest: async (conversation) =>
    tables.sessions
      .in('conversation', conversation)
      .map(({ session }) => session)
      .reduce<AgentSession | undefined>((last, next) => (last && last.epoch > next.epoch ? last : next), undefined),
  listForConversation: async (conversation, page) =>
    pageBy<AgentSession>(
      tables.sessions.in('conversation', conversation).map(({ session }) => session),
      ({ epoch }) => numberKey(epoch),
      page,
    ),
  list: async ({ conversationId, agentName, state, metadata, order = 'oldest_first' }, page) => {
    const found = allSessions(tables)
      .filter((session) => conversationId === undefined || session.conversationId === conversationId)
      .filter((session) => agentName === undefined || session.agentName === agentName)
      .filter((session) => state === undefined || session.state === state)
      .filter((session) => metadata === undefined || containsJson(session.metadata, metadata))
    return pageByAge(found, ({ startedAt }) => startedAt, { ...page, order })
  },
  listUnfinished: async (page) => listUnfinished(tables, clock.now(), page),
  findByProviderSession: async (providerSessionId) =>
    tables.sessions.in('provider', providerSessionId).map(({ session }) => session),
})

/** One page of sessions that have not ended, newest first, with everything around them. */
const listUnfinished = (tables: Tables, at: Instant, page: Page): UnfinishedPage => {
  const found = allSessions(tables).filter((session) => !isTerminal(session))
  const { items, ...rest } = pageByAge(found, ({ startedAt }) => startedAt, { ...page, order: 'newest_first' })
  return { ...rest, at, items: items.map((session) => surrounded(tables, session, at)) }
}

const surrounded = (tables: Tables, session: AgentSession, at: Instant): UnfinishedSession => {
  const row = tables.leases.get(session.id)
  const signals = queuedFor(tables, session.id).slice(0, MOST_SIGNALS_COUNTED)
  return defined({
    session,
    conversationKey: tables.conversations.get(session.conversationId)?.externalKey,
    monitor: tables.monitors.get(session.id),
    lease: row && { ...heldLease(row), isOver: row.expiresAt <= at },
    waitingSignals: defined({ count: signals.length, oldest: signals[0]?.queuedAt }),
  })
}
