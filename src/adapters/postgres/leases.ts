import { sql } from 'kysely'
import { z } from 'zod'
import type { ExpiredLease, SessionLeases } from '../../ports/session-leases.ts'
import { type Database, named, readDocuments, reading, withRetry } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'
import { aConversation, aSession, reader, time } from './row-types.ts'

/** A lease, and its place in the list: by the server's clock, which counts in microseconds. */
interface LeaseInList extends ExpiredLease {
  readonly place: string
}

const toLease = reader(
  'lease',
  z.object({ conversation_id: aConversation, session_id: aSession, expires_at: time, place: z.string() }).transform(
    (row): LeaseInList => ({
      conversationId: row.conversation_id,
      sessionId: row.session_id,
      expiredAt: row.expires_at,
      place: row.place,
    }),
  ),
)

/** Until when holders are to be heard of, by the server's clock. */
export const leasesIn = (database: Database): SessionLeases => {
  const leases = named(database, 'session_leases')
  const sessions = named(database, 'agent_sessions')
  return {
    renew: (session, holder, leaseMs) =>
      reading(() =>
        withRetry(async () => {
          const renewed = await sql<{ renewed: boolean }>`select ${named(database, 'renew_lease')}(
            ${session}::uuid, ${holder}::uuid, ${leaseMs}::integer) as renewed`.execute(database.kysely)
          return renewed.rows[0]?.renewed === true
        }),
      ),
    listExpired: (page) =>
      reading(async () => {
        const [at, id] = page.after === undefined ? [] : fromCursor(page.after, 2)
        const from =
          at === undefined ? sql`true` : sql`(l.expires_at, l.session_id) > (${at}::timestamptz, ${id}::uuid)`
        const query = sql<{
          json: string
        }>`select (to_jsonb(l) || jsonb_build_object('place', l.expires_at))::text as json from ${leases} l
          join ${sessions} s on s.conversation_id = l.conversation_id and s.id = l.session_id
          where l.expires_at <= clock_timestamp() and (s.state = 'active' or s.held_by is not null) and ${from}
          order by l.expires_at, l.session_id limit ${limitOf(page)}`
        const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
        const { items, ...rest } = paged(rows.map(toLease), page, (lease) => [lease.place, lease.sessionId])
        return { ...rest, items: items.map(({ place: _, ...lease }) => lease) }
      }),
  }
}
