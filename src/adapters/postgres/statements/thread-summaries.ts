import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import {
  COUNTED_SUMMARIES,
  type KeptSummary,
  type SummaryFigures,
  type SummaryFilter,
  type ThreadSummaries,
} from '../../../ports/store/thread-summaries.ts'
import { aConversation, aHandoff, reader, time } from '../rows/row-types.ts'
import { toStorableJson, toStorableText } from '../rows/text-codec.ts'
import { allConditions, byAge, type Condition, given } from './by-age.ts'
import { called, type Database, guardedRead, qualified, readDocuments, withRetry } from './database.ts'
import { paged } from './paging.ts'

const toSummary = reader(
  'summary',
  z
    .object({
      conversation_id: aConversation,
      handoff_id: aHandoff,
      target_conversation_id: aConversation,
      agent_name: z.string(),
      summary: z.string(),
      plain_text: z.string(),
      tokens: z.number(),
      model_used: z.string(),
      refinements: z.number(),
      is_edited: z.boolean(),
      accepted_at: time,
    })
    .transform(
      (row): KeptSummary => ({
        handoffId: row.handoff_id,
        sourceThreadId: row.conversation_id,
        targetThreadId: row.target_conversation_id,
        agentName: row.agent_name,
        summary: row.summary,
        plainText: row.plain_text,
        tokens: row.tokens,
        modelUsed: row.model_used,
        refinements: row.refinements,
        isEdited: row.is_edited,
        timestamp: row.accepted_at,
      }),
    ),
)

const toColumns = (summary: KeptSummary): object => ({
  conversation_id: summary.sourceThreadId,
  handoff_id: summary.handoffId,
  target_conversation_id: summary.targetThreadId,
  agent_name: summary.agentName,
  summary: summary.summary,
  plain_text: summary.plainText,
  tokens: summary.tokens,
  model_used: summary.modelUsed,
  refinements: summary.refinements,
  is_edited: summary.isEdited,
  accepted_at: summary.timestamp,
})

const toFigures = reader(
  'figure',
  z
    .object({
      agent_name: z.string(),
      model_used: z.string(),
      summaries: z.number(),
      edited: z.number(),
      refinements: z.number(),
      mean_tokens: z.number(),
      latest: time,
    })
    .transform(
      ({ agent_name: agentName, model_used: modelUsed, mean_tokens: meanTokens, ...counts }): SummaryFigures => ({
        agentName,
        modelUsed,
        meanTokens,
        ...counts,
      }),
    ),
)

/** The mirror of accepted summaries. */
export const threadSummariesIn = (database: Database): ThreadSummaries => {
  const table = qualified(database, 'thread_summaries')
  const read = (query: RawBuilder<{ json: string }>): Promise<readonly unknown[]> =>
    readDocuments(async () => (await query.execute(database.kysely)).rows)
  return {
    keep: (summary) =>
      guardedRead(() =>
        withRetry(async () => {
          await sql`select ${called(database, 'keep_thread_summary')}(
            ${toStorableJson(toColumns(summary))}::text::jsonb)`.execute(database.kysely)
        }),
      ),
    list: (filter, page) =>
      guardedRead(async () => {
        const { from, order, limit } = newest(page)
        const rows = await read(sql<{ json: string }>`select to_jsonb(t)::text as json from ${table} t
          where ${allConditions([...conditionsOf(filter), ...from])} order by ${order} limit ${limit}`)
        return paged(rows.map(toSummary), page, ({ timestamp, handoffId }) => [timestamp, handoffId])
      }),
    figures: (filter) =>
      guardedRead(async () => {
        const rows = await read(sql<{ json: string }>`select jsonb_build_object('agent_name', n.agent_name,
            'model_used', n.model_used, 'summaries', count(*), 'edited', count(*) filter (where n.is_edited),
            'refinements', sum(n.refinements), 'mean_tokens', round(avg(n.tokens)), 'latest', max(n.accepted_at))::text as json
          from (select t.agent_name, t.model_used, t.is_edited, t.refinements, t.tokens, t.accepted_at from ${table} t
            where ${allConditions(conditionsOf(filter))} order by ${newest({}).order} limit ${COUNTED_SUMMARIES}) n
          group by n.agent_name, n.model_used order by n.agent_name collate "C", n.model_used collate "C"`)
        return rows.map(toFigures)
      }),
  }
}

const newest = (page: Parameters<ThreadSummaries['list']>[1]) =>
  byAge('t', 'accepted_at', { ...page, order: 'newest_first' }, 'handoff_id')

const conditionsOf = ({
  agentName,
  sourceThreadId,
  since,
  until,
}: SummaryFilter): readonly (Condition | undefined)[] => [
  given(agentName, (agent) => sql`t.agent_name = ${toStorableText(agent)}`),
  given(sourceThreadId, (id) => sql`t.conversation_id = ${id}::uuid`),
  given(since, (from) => sql`t.accepted_at >= ${from}::timestamptz`),
  given(until, (before) => sql`t.accepted_at < ${before}::timestamptz`),
]
