import { sql } from 'kysely'
import { z } from 'zod'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { DelegatedThread, ThreadTree } from '../../../domain/thread/delegated-thread.ts'
import { type ConversationRepository, MOST_DELEGATED } from '../../../ports/store/conversation-repository.ts'
import { toBudgetUse } from '../rows/budget-use-row.ts'
import { toConversation } from '../rows/conversation-row.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { reader } from '../rows/row-types.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { toStorableText } from '../rows/text-codec.ts'
import { allConditions, byAge, given, noted } from './by-age.ts'
import { called, type Database, guardedRead, qualified, readDocuments } from './database.ts'
import { listJobs } from './jobs.ts'
import { readLineage } from './lineage-query.ts'
import { paged } from './paging.ts'

/** Conversations, one or many, and whole lineages in one read. */
export const conversationsIn = (database: Database): ConversationRepository => {
  const { kysely } = database
  const one = async (column: 'id' | 'external_key', value: string) => {
    const query = kysely.selectFrom('conversations as c').select(sql<string>`to_jsonb(c)::text`.as('json'))
    const [found] = await readDocuments(() => query.where(`c.${column}`, '=', value).execute())
    return found === undefined ? undefined : toConversation(found)
  }
  return {
    find: (id) => guardedRead(() => one('id', id)),
    findByExternalKey: (key) => guardedRead(() => one('external_key', toStorableText(key))),
    findUse: (id) =>
      guardedRead(async () => {
        const query = sql<{ json: string }>`select ${called(database, 'budget_use')}(c.id)::text as json
          from ${qualified(database, 'conversations')} c where c.id = ${id}::uuid`
        const [found] = await readDocuments(async () => (await query.execute(kysely)).rows)
        return found === undefined ? undefined : toBudgetUse(found)
      }),
    list: ({ subject, isRoot, state, metadata, order = 'oldest_first' }, page) =>
      guardedRead(async () => {
        const age = byAge('c', 'opened_at', { ...page, order })
        const where = allConditions([
          given(subject, (wanted) => sql`c.subject = ${toStorableText(wanted)}`),
          given(isRoot, () => sql`c.parent_id is null`),
          given(state, (wanted) => (wanted === 'open' ? sql`c.closed_at is null` : sql`c.closed_at is not null`)),
          noted('c', metadata),
          ...age.from,
        ])
        const query = sql<{
          json: string
        }>`select to_jsonb(c)::text as json from ${qualified(database, 'conversations')} c
          where ${where} order by ${age.order} limit ${age.limit}`
        const rows = await readDocuments(async () => (await query.execute(kysely)).rows)
        return paged(rows.map(toConversation), page, ({ openedAt, id }) => [openedAt, id])
      }),
    lineage: (of) => guardedRead(() => readLineage(database, typeof of === 'string' ? { conversationId: of } : of)),
    listDelegated: (id) => guardedRead(() => readDelegated(database, id)),
    listJobs: (filter, page) => guardedRead(() => listJobs(database, filter, page)),
    findTree: (id) => guardedRead(() => readTree(database, id)),
  }
}

const toParts = reader('delegated thread', z.object({ handoff: z.unknown(), session: z.unknown() }))

const toTree = reader(
  'tree',
  z
    .object({ depth: z.number(), threads: z.number(), cost_usd: z.number() })
    .transform(({ depth, threads, cost_usd: costUsd }): ThreadTree => ({ depth, threads, costUsd })),
)

/** The delegated threads of a conversation that no message reports yet, oldest first, in one read. */
const readDelegated = async (database: Database, id: ConversationId): Promise<readonly DelegatedThread[]> => {
  const query = sql<{ json: string }>`select found::text as json
    from ${called(database, 'delegated_threads')}(${id}::uuid, ${MOST_DELEGATED}::integer) as found`
  const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return rows.map((row) => {
    const { handoff, session } = toParts(row)
    return { handoff: toHandoff(handoff), session: toWorkingSession(session).session }
  })
}

/** The tree that a conversation is in, in one read. */
const readTree = async (database: Database, id: ConversationId): Promise<ThreadTree | undefined> => {
  const query = sql<{ json: string }>`select found::text as json
    from ${called(database, 'thread_tree')}(${id}::uuid) as found where found is not null`
  const [found] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return found === undefined ? undefined : toTree(found)
}
