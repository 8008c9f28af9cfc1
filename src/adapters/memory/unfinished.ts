import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { type AgentSession, isTerminal } from '../../domain/session/agent-session.ts'
import type { Page } from '../../ports/store/page.ts'
import {
  MOST_SIGNALS_COUNTED,
  type UnfinishedPage,
  type UnfinishedSession,
} from '../../ports/store/unfinished-session.ts'
import { allSessions, pageByAge } from './all-rows.ts'
import { heldLease } from './leases.ts'
import { queuedFor } from './signals.ts'
import type { Tables } from './tables.ts'

/** One page of sessions that have not ended, newest first, with everything around them. */
export const listUnfinished = (tables: Tables, at: Instant, page: Page): UnfinishedPage => {
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
