import type { Conversation } from '../../domain/conversation/conversation.ts'
import { isOpen } from '../../domain/handoff/handoff.ts'
import { by } from '../../domain/history/lineage.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { type AgentSession, isTerminal } from '../../domain/session/agent-session.ts'
import type { JobFilter, JobPage, StoredJob, StoredWindow } from '../../ports/store/job-list.ts'
import type { Page } from '../../ports/store/page.ts'
import { allConversations, pageByAge } from './all-rows.ts'
import { heldLease } from './leases.ts'
import type { Tables } from './tables.ts'

/** One page of jobs: conversations without a parent, each with all its threads, by what happened last. */
export const listJobs = (tables: Tables, at: Instant, { since }: JobFilter, page: Page): JobPage => {
  const found = allConversations(tables)
    .filter(({ parentId }) => parentId === undefined)
    .flatMap((root) => {
      const conversations = [root, ...descendants(tables, root)] as const
      const latestAt = conversations
        .flatMap((each) => momentsOf(tables, each, since))
        .sort()
        .at(-1)
      return latestAt === undefined ? [] : [{ id: root.id, latestAt, conversations }]
    })
  const { items, ...rest } = pageByAge(found, ({ latestAt }) => latestAt, { ...page, order: 'newest_first' })
  return { ...rest, at, items: items.map((item) => jobOf(tables, item, at)) }
}

const sessionsOf = (tables: Tables, { id }: Conversation): readonly AgentSession[] =>
  tables.sessions.in('conversation', id).map(({ session }) => session)

const momentsOf = (tables: Tables, conversation: Conversation, since: Instant): readonly Instant[] => [
  ...[conversation.openedAt].filter((moment) => moment >= since),
  ...sessionsOf(tables, conversation).flatMap((session) => {
    const moment = 'endedAt' in session ? session.endedAt : session.startedAt
    return moment >= since || !isTerminal(session) ? [moment] : []
  }),
]

const jobOf = (
  tables: Tables,
  { latestAt, conversations }: Pick<StoredJob, 'latestAt' | 'conversations'>,
  at: Instant,
): StoredJob => {
  const [root, ...threads] = conversations
  const handoffs = conversations.flatMap(({ id }) => tables.handoffs.in('conversation', id))
  return {
    latestAt,
    conversations: [
      root,
      ...threads.toSorted(
        by(
          ({ openedAt }) => openedAt,
          ({ id }) => id,
        ),
      ),
    ],
    windows: conversations
      .flatMap((conversation) => sessionsOf(tables, conversation))
      .sort(
        by(
          ({ startedAt }) => startedAt,
          ({ id }) => id,
        ),
      )
      .map((session) => windowOf(tables, session, at)),
    openHandoffs: handoffs.filter(isOpen).sort(
      by(
        ({ initiatedAt }) => initiatedAt,
        ({ id }) => id,
      ),
    ),
    restarts: handoffs.filter(({ kind }) => kind === 'context_restart').length,
  }
}

const windowOf = (tables: Tables, session: AgentSession, at: Instant): StoredWindow => {
  const row = tables.leases.get(session.id)
  const costs = tables.handoffs
    .in('conversation', session.conversationId)
    .filter(({ sourceSessionId }) => sourceSessionId === session.id)
    .flatMap(({ checkpoint }) => checkpoint?.totals?.costUsd ?? [])
  const lastTurn = isTerminal(session) ? undefined : tables.turns.get(session.progress.lastTurnId ?? '')
  return defined({
    session,
    checkpointUsd: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    lastTurnAt: lastTurn?.recordedAt,
    lease: row && { ...heldLease(row), isOver: row.expiresAt <= at },
  })
}

/** Its threads and theirs. */
const descendants = (tables: Tables, { id }: Conversation): readonly Conversation[] =>
  tables.conversations.in('parent', id).flatMap((child) => [child, ...descendants(tables, child)])
