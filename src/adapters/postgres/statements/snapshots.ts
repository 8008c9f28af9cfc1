import { sql } from 'kysely'
import type { ContextWindowSnapshot } from '../../../domain/session/context-snapshot.ts'
import type { ContextSnapshotPort } from '../../../ports/store/context-snapshot-port.ts'
import { toSnapshot } from '../rows/record-rows.ts'
import { called, type Database, guardedRead, readDocuments } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** Snapshots, each with the tool calls its window held. */
export const snapshotsIn = (database: Database): ContextSnapshotPort => {
  const document = sql<string>`(to_jsonb(s) || jsonb_build_object('tool_calls',
    ${called(database, 'tool_calls_within')}(s.conversation_id, s.session_id, s.window_start, s.window_end)))::text`
  const select = () => database.kysely.selectFrom('context_snapshots as s').select(document.as('json'))
  const read = async (query: ReturnType<typeof select>): Promise<readonly ContextWindowSnapshot[]> =>
    (await readDocuments(() => query.execute())).map(toSnapshot)
  return {
    find: (id) => guardedRead(async () => (await read(select().where('s.id', '=', id)))[0]),
    findLatest: (session) =>
      guardedRead(async () => {
        const newest = select()
          .where('s.session_id', '=', session)
          .orderBy('s.captured_at', 'desc')
          .orderBy('s.id', 'desc')
        return (await read(newest.limit(1)))[0]
      }),
    listForSession: (session, page) =>
      guardedRead(async () => {
        const all = select().where('s.session_id', '=', session).orderBy('s.captured_at').orderBy('s.id')
        const [at, id] = page.after === undefined ? [] : fromCursor(page.after, 2)
        const from =
          at === undefined ? all : all.where(sql<boolean>`(s.captured_at, s.id) > (${at}::timestamptz, ${id}::uuid)`)
        return paged(await read(from.limit(limitOf(page))), page, (snapshot) => [snapshot.capturedAt, snapshot.id])
      }),
  }
}
