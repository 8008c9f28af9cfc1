import { sql } from 'kysely'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import type { ContextSignal } from '../../../domain/session/context-signal.ts'
import type { ContextMonitorPort } from '../../../ports/store/context-monitor-port.ts'
import type { SignalQueue } from '../../../ports/store/signal-queue.ts'
import { toMonitor, toSignal } from '../rows/monitor-row.ts'
import { called, type Database, guardedRead, qualified, readDocuments, withRetry } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** The monitors of windows. */
export const monitorsIn = (database: Database): ContextMonitorPort => ({
  find: (session) =>
    guardedRead(async () => {
      const query = sql<{ json: string }>`select to_jsonb(m)::text as json
        from ${qualified(database, 'context_monitors')} m where m.session_id = ${session}::uuid`
      const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
      return rows.map(toMonitor)[0]
    }),
})

/** The queue of signals. */
export const signalsIn = (database: Database): SignalQueue => {
  const table = qualified(database, 'context_signals')
  const sessions = qualified(database, 'agent_sessions')
  /** A session hears what was for it, and for those before it that have handed off. */
  const heardBy = (recipient: AgentSessionId) => sql`(
    select heard.id from ${sessions} own
    join ${sessions} heard on heard.conversation_id = own.conversation_id
      and (heard.id = own.id or (heard.state = 'handed_off' and heard.epoch < own.epoch))
    where own.id = ${recipient}::uuid)`
  const read = async (query: ReturnType<typeof sql<{ json: string }>>): Promise<readonly ContextSignal[]> =>
    (await readDocuments(async () => (await query.execute(database.kysely)).rows)).map(toSignal)
  return {
    find: (id) =>
      guardedRead(async () => {
        const query = sql<{ json: string }>`select to_jsonb(s)::text as json from ${table} s where s.id = ${id}::uuid`
        return (await read(query))[0]
      }),
    waiting: (recipient) =>
      guardedRead(() =>
        read(sql<{ json: string }>`
          (select to_jsonb(s)::text as json from ${table} s
            where s.recipient_session_id in ${heardBy(recipient)} and s.status = 'queued' and s.delivery = 'urgent'
            order by s.queued_at, s.id)
          union all
          (select to_jsonb(s)::text from ${table} s
            where s.recipient_session_id in ${heardBy(recipient)} and s.status = 'queued' and s.delivery = 'sequential'
            order by s.queued_at, s.id limit 1)`),
      ),
    acknowledge: (recipient, ids, at) =>
      guardedRead(() =>
        withRetry(async () => {
          const list = sql`array(select jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb))::uuid[]`
          const done = await sql<{ count: string }>`select ${called(database, 'acknowledge_signals')}(
            ${recipient}::uuid, ${list}, ${at}::timestamptz)::text as count`.execute(database.kysely)
          return Number(done.rows[0]?.count)
        }),
      ),
    listFor: (recipient, page) =>
      guardedRead(async () => {
        const [at, id] = page.after === undefined ? [] : fromCursor(page.after, 2)
        const from = at === undefined ? sql`true` : sql`(s.queued_at, s.id) > (${at}::timestamptz, ${id}::uuid)`
        const query = sql<{ json: string }>`select to_jsonb(s)::text as json from ${table} s
          where s.recipient_session_id = ${recipient}::uuid and ${from}
          order by s.queued_at, s.id limit ${limitOf(page)}`
        return paged(await read(query), page, (signal) => [signal.queuedAt, signal.id])
      }),
  }
}
