import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { KeptCommand } from '../../../domain/audit/command-seal.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { commandId, handoffId } from '../../../domain/kernel/ids.ts'
import { type AuditedRows, FOUND_BY_ID, type SharedId } from '../../../ports/store/audited-rows.ts'
import { toLookBackRecord } from '../rows/look-back-rows.ts'
import { toSnapshotRecord, toToolCallRecord, toTurn } from '../rows/record-rows.ts'
import { aConversation, maybe, reader } from '../rows/row-types.ts'
import { called, type Database, guardedRead, qualified, readDocuments } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

/** The rows stored beside the log of one conversation. */
export const auditedRowsIn = (database: Database): AuditedRows => {
  const documents = (query: RawBuilder<{ json: string }>): Promise<readonly unknown[]> =>
    guardedRead(() => readDocuments(async () => (await query.execute(database.kysely)).rows))
  return {
    listTurnsIn: async (conversation, session, page) => {
      const after = page.after === undefined ? 0 : fromCursor(page.after, 1)[0]
      const rows = await documents(sql`
        select (to_jsonb(t) || jsonb_build_object('tool_calls', ${called(database, 'tool_calls_within')}(
          t.conversation_id, t.session_id, t.start_sequence, t.end_sequence)))::text as json
        from ${qualified(database, 'turns')} t
        where t.conversation_id = ${conversation}::uuid and t.session_id = ${session}::uuid
          and t.number > ${after}::integer
        order by t.number limit ${limitOf(page)}`)
      return paged(rows.map(toTurn), page, ({ number }) => [number])
    },
    listToolCallsIn: async (conversation, page) => {
      const [sequence, position] = page.after === undefined ? [0, 0] : fromCursor(page.after, 2)
      const rows = await documents(sql`
        select to_jsonb(c)::text as json from ${qualified(database, 'tool_calls')} c
        where c.conversation_id = ${conversation}::uuid
          and (c.sequence_number, c.position) > (${sequence}::bigint, ${position}::bigint)
        order by c.sequence_number, c.position limit ${limitOf(page)}`)
      return paged(rows.map(toToolCallRecord), page, (call) => [call.sequenceNumber, call.position])
    },
    listSnapshotsIn: async (conversation, page) => {
      const after = page.after === undefined ? null : fromCursor(page.after, 1)[0]
      const rows = await documents(sql`
        select to_jsonb(s)::text as json from ${qualified(database, 'context_snapshots')} s
        where s.conversation_id = ${conversation}::uuid and (${after}::uuid is null or s.id > ${after}::uuid)
        order by s.id limit ${limitOf(page)}`)
      return paged(rows.map(toSnapshotRecord), page, ({ id }) => [id])
    },
    listLookBacksIn: async (conversation, page) => {
      const after = page.after === undefined ? null : fromCursor(page.after, 1)[0]
      const rows = await documents(sql`
        select to_jsonb(b)::text as json from ${qualified(database, 'look_backs')} b
        where b.conversation_id = ${conversation}::uuid and (${after}::uuid is null or b.id > ${after}::uuid)
        order by b.id limit ${limitOf(page)}`)
      return paged(rows.map(toLookBackRecord), page, ({ id }) => [id])
    },
    findCommands: async (ids) => {
      const rows = await documents(sql`
        select (to_jsonb(c) || jsonb_build_object('kept_at', ${keptAt}))::text as json from ${qualified(database, 'commands')} c
        where c.id = any (array(select jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb)::uuid))`)
      return rows.map(toCommand)
    },
    // One pass over the commands that are remembered: no index has them by conversation, which each turn would pay for.
    listUnnamedCommands: async (conversation) => {
      const rows = await documents(sql`
        select (to_jsonb(c) || jsonb_build_object('kept_at', ${keptAt}))::text as json from ${qualified(database, 'commands')} c
        where c.conversation_id = ${conversation}::uuid and c.id not in (
          select e.command_id from ${qualified(database, 'audit_entries')} e where e.conversation_id = ${conversation}::uuid)`)
      return rows.map(toCommand)
    },
    listMisnumbered: async (conversation) => {
      const rows = await documents(sql`
        select to_jsonb(t.handoff_id)::text as json from ${qualified(database, 'handoff_tool_calls')} t
        where t.conversation_id = ${conversation}::uuid
        group by t.handoff_id having min(t.ordinal) <> 1 or max(t.ordinal) <> count(*)`)
      return rows.map((id) => handoffId(String(id)))
    },
    listSharedIds: async (page) => {
      const rows = await documents(sharedIds(database, page.after, limitOf(page)))
      return paged(rows.map(toSharedId), page, ({ kind, id }) => [kind, id])
    },
  }
}

/** As the entry of a command says it. */
const keptAt = sql`to_char(c.kept_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

const toCommand = reader(
  'command',
  z
    .object({
      id: z.string().transform(commandId),
      conversation_id: maybe(aConversation),
      digest: z.string(),
      receipt: maybe(z.unknown()),
      kept_at: z.string(),
    })
    .transform(
      ({ id, conversation_id: conversationId, digest, receipt, kept_at: keptAt }): KeptCommand => ({
        id,
        digest,
        keptAt,
        ...defined({ conversationId, receipt }),
      }),
    ),
)

const toSharedId = reader(
  'id',
  z.object({ kind: z.enum(FOUND_BY_ID), id: z.string(), conversations: z.array(aConversation) }),
) satisfies (raw: unknown) => SharedId

const TABLES = {
  handoff: 'handoffs',
  message: 'messages',
  session: 'agent_sessions',
  snapshot: 'context_snapshots',
  turn: 'turns',
} as const satisfies Record<(typeof FOUND_BY_ID)[number], string>

/** No index holds ids once: tables stay distributable by conversation. So this reads every id there is. */
const sharedIds = (database: Database, after: string | undefined, limit: number): RawBuilder<{ json: string }> => {
  const [kind, id] = after === undefined ? ['', '00000000-0000-0000-0000-000000000000'] : fromCursor(after, 2)
  const of = FOUND_BY_ID.map(
    (each) => sql`select ${sql.lit(each)}::text as kind, id, array_agg(distinct conversation_id) as conversations
      from ${qualified(database, TABLES[each])} group by id having count(*) > 1`,
  )
  return sql`
    select jsonb_build_object('kind', kind, 'id', id, 'conversations', to_jsonb(conversations))::text as json
    from (${sql.join(of, sql` union all `)}) shared
    where (kind collate "C", id) > (${kind}::text collate "C", ${id}::uuid)
    order by kind collate "C", id limit ${limit}`
}
