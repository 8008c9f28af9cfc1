import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { Page, Paged } from '../../../ports/store/page.ts'
import type { HeldLease, SessionLeases } from '../../../ports/store/session-leases.ts'
import { brokenIn, orBroken, readOr } from '../rows/broken-part.ts'
import { aConversation, aSession, maybe, reader, time } from '../rows/row-types.ts'
import { toStorableJson } from '../rows/text-codec.ts'
import { called, type Database, guardedRead, qualified, readDocuments, withRetry } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** A lease, and its place in the list: by the server's clock, which counts in microseconds. */
interface LeaseInList extends HeldLease {
  readonly place: string
}

const aProcess = z.strictObject({
  host: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  userId: z.int().nonnegative(),
  mark: z.string(),
  leader: z.strictObject({ pid: z.int().positive(), startTime: z.string() }).exactOptional(),
})

/** A row of the table of leases, with its place. */
export const leaseRow: z.ZodType<LeaseInList> = z
  .object({
    conversation_id: aConversation,
    session_id: aSession,
    expires_at: time,
    processes: orBroken(z.array(aProcess)),
    runner: orBroken(maybe(aProcess)),
    place: z.string(),
  })
  .transform(
    (row): LeaseInList =>
      defined({
        conversationId: row.conversation_id,
        sessionId: row.session_id,
        until: row.expires_at,
        processes: readOr(row.processes, []),
        runner: readOr(row.runner, undefined),
        broken: brokenIn({ processes: row.processes, runner: row.runner }),
        place: row.place,
      }),
  )

const toLease = reader('lease', leaseRow)

/** A lease outside of the list. */
export const withoutPlace = ({ place: _, ...lease }: LeaseInList): HeldLease => lease

/** Until when holders are to be heard of, by the server's clock. */
export const leasesIn = (database: Database): SessionLeases => {
  const leases = qualified(database, 'session_leases')
  const sessions = qualified(database, 'agent_sessions')
  const says = (call: RawBuilder<{ said: boolean }>): Promise<boolean> =>
    guardedRead(() => withRetry(async () => (await call.execute(database.kysely)).rows[0]?.said === true))
  const read = async (which: RawBuilder<unknown>): Promise<readonly LeaseInList[]> => {
    const query = sql<{
      json: string
    }>`select (to_jsonb(l) || jsonb_build_object('place', l.expires_at))::text as json from ${leases} l
      join ${sessions} s on s.conversation_id = l.conversation_id and s.id = l.session_id where ${which}`
    return (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toLease)
  }
  const ofBatons = (page: Page, which: RawBuilder<unknown>): Promise<Paged<HeldLease>> =>
    guardedRead(async () => {
      const [at, id] = page.after === undefined ? [] : fromCursor(page.after, 2)
      const from = at === undefined ? sql`true` : sql`(l.expires_at, l.session_id) > (${at}::timestamptz, ${id}::uuid)`
      const rows = await read(sql`${which} and (s.state = 'active' or s.held_by is not null) and ${from}
        order by l.expires_at, l.session_id limit ${limitOf(page)}`)
      const { items, ...rest } = paged(rows, page, (lease) => [lease.place, lease.sessionId])
      return { ...rest, items: items.map(withoutPlace) }
    })
  return {
    renew: (session, holder, leaseMs) =>
      says(sql`select ${called(database, 'renew_lease')}(
        ${session}::uuid, ${holder}::text, ${leaseMs}::integer) as said`),
    keepProcesses: (session, holder, processes) =>
      says(sql`select ${called(database, 'keep_processes')}(
        ${session}::uuid, ${holder}::text, ${toStorableJson(processes)}::text::jsonb) as said`),
    find: (session) =>
      guardedRead(async () => {
        const [lease] = await read(sql`l.session_id = ${session}::uuid`)
        return lease && withoutPlace(lease)
      }),
    listRunning: (page) => ofBatons(page, sql`l.expires_at > clock_timestamp()`),
    listExpired: async (page) => {
      const { items, ...rest } = await ofBatons(page, sql`l.expires_at <= clock_timestamp()`)
      return {
        ...rest,
        items: items.map(({ conversationId, sessionId, until: expiredAt }) => ({
          conversationId,
          sessionId,
          expiredAt,
        })),
      }
    },
  }
}
