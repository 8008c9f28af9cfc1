import { sql } from 'kysely'
import { z } from 'zod'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { DelegatedThread, ThreadTree } from '../../../domain/thread/delegated-thread.ts'
import { MOST_DELEGATED } from '../../../ports/store/conversation-repository.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { reader } from '../rows/row-types.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { called, type Database, readDocuments } from './database.ts'

const toParts = reader('delegated thread', z.object({ handoff: z.unknown(), session: z.unknown() }))

const toTree = reader(
  'tree',
  z
    .object({ depth: z.number(), threads: z.number(), cost_usd: z.number() })
    .transform(({ depth, threads, cost_usd: costUsd }): ThreadTree => ({ depth, threads, costUsd })),
)

/** The delegated threads of a conversation that no message reports yet, oldest first, in one read. */
export const readDelegated = async (database: Database, id: ConversationId): Promise<readonly DelegatedThread[]> => {
  const query = sql<{ json: string }>`select found::text as json
    from ${called(database, 'delegated_threads')}(${id}::uuid, ${MOST_DELEGATED}::integer) as found`
  const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return rows.map((row) => {
    const { handoff, session } = toParts(row)
    return { handoff: toHandoff(handoff), session: toWorkingSession(session).session }
  })
}

/** The tree that a conversation is in, in one read. */
export const readTree = async (database: Database, id: ConversationId): Promise<ThreadTree | undefined> => {
  const query = sql<{ json: string }>`select found::text as json
    from ${called(database, 'thread_tree')}(${id}::uuid) as found where found is not null`
  const [found] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
  return found === undefined ? undefined : toTree(found)
}
