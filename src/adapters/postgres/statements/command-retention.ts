import { sql } from 'kysely'
import { LEAST_RETENTION_MS } from '../../../domain/kernel/retention-time.ts'
import type { CommandRetention } from '../../../ports/store/command-retention.ts'
import { called, type Database, guardedRead, qualified, withRetry } from './database.ts'

/** Commands that were carried out, and how old they are by the server's clock. */
export const commandsIn = (database: Database): CommandRetention => {
  const oneNumber = (query: ReturnType<typeof sql<{ count: number }>>): Promise<number> =>
    guardedRead(() => withRetry(async () => Number((await query.execute(database.kysely)).rows[0]?.count)))
  return {
    prune: (keepMs, most) =>
      oneNumber(sql`select ${called(database, 'prune_commands')}(${keepMs}::bigint, ${most}::integer) as count`),
    countPrunable: (keepMs) => {
      const retention = Math.max(keepMs, LEAST_RETENTION_MS)
      return oneNumber(sql`select count(*)::integer as count from ${qualified(database, 'commands')}
        where kept_at < (select clock_timestamp() - ${retention}::bigint * interval '1 millisecond')`)
    },
  }
}
