import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { conversationId, instant, unwrap } from '../../src/entry/index.ts'
import type { KeptSummary, SummaryFilter } from '../../src/entry/ports.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ExplainedHistory } from './explained.ts'

const SUMMARIES = 30_000

let explained: ExplainedHistory

/** Many summaries, without the handoffs they belong to: 50 agents, 300 source threads, one in a minute. */
const fill = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query('set session_replication_role = replica')
    await client.query(`insert into batonpass.thread_summaries
      select ('c0000000-0000-7000-8000-' || lpad((n % 300)::text, 12, '0'))::uuid,
        ('d0000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
        ('e0000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
        'agent-' || n % 50, repeat('## Objective ', 80), repeat('Objective: ', 80), 200 + n % 100, 'model-' || n % 3, n % 4,
        n % 5 = 0, '2026-01-01'::timestamptz + n * interval '1 minute'
      from generate_series(1, ${SUMMARIES}) n`)
    await client.query('set session_replication_role = origin')
    await client.query('analyze batonpass.thread_summaries')
  } finally {
    client.release()
  }
}

beforeAll(async () => {
  explained = await ExplainedHistory.open()
  await fill(explained.pool)
}, 600_000)
afterAll(async () => explained[Symbol.asyncDispose]())

const source = conversationId('c0000000-0000-7000-8000-000000000007')

const FILTERS: readonly (readonly [string, SummaryFilter, number, readonly string[]])[] = [
  ['no filter', {}, SUMMARIES, ['thread_summaries_by_age']],
  ['an agent', { agentName: 'agent-7' }, 600, ['thread_summaries_by_agent']],
  ['an agent nobody knows', { agentName: 'x' }, 0, ['thread_summaries_by_agent']],
  ['a source thread', { sourceThreadId: source }, 100, ['thread_summaries_by_source']],
  ['a start', { since: instant('2026-01-21') }, 1_201, ['thread_summaries_by_age']],
  ['an end', { until: instant('2026-01-02') }, 1_439, ['thread_summaries_by_age']],
  ['an agent and a start', { agentName: 'agent-7', since: instant('2026-01-21') }, 24, ['thread_summaries_by_agent']],
]

describe(`${SUMMARIES} summaries`, () => {
  it.each(FILTERS)('are listed by %s through an index, first page and later', async (_, filter, all, indexes) => {
    const first = await explained.history.threadSummaries(filter, { limit: 20 })
    expect(first.items.length).toBe(Math.min(all, 20))
    const pages = [{ limit: 20 }, ...(first.next === undefined ? [] : [{ limit: 20, after: first.next }])]
    for (const page of pages) {
      const cost = await explained.explain((history) => history.threadSummaries(filter, page))
      expect(cost).toMatchObject({ sequentialScans: [], roundTrips: 1, indexes })
      expect(cost.buffers).toBeLessThan(100)
    }
  })

  it.each(FILTERS)('are counted by %s, the newest 10,000 that match', async (_, filter, all) => {
    const figures = await explained.history.threadFigures(filter)
    expect(figures.reduce((sum, { summaries }) => sum + summaries, 0)).toBe(Math.min(all, 10_000))
    const cost = await explained.explain((history) => history.threadFigures(filter))
    expect(cost.roundTrips).toBe(1)
    // Of few an index knows which; of many a row costs a page at most, and no text is read.
    if (all <= 1_000) expect(cost.sequentialScans).toEqual([])
    expect(cost.buffers).toBeLessThan(Math.min(all, 10_000) + 50)
    console.log(`figures by ${Object.keys(filter)}: ${cost.buffers} buffers through ${cost.indexes}`)
  })
})

describe('a summary whose document is erased', () => {
  it('is erased in the mirror, kept before or after, and nothing else of it is', async () => {
    await using store = await openPostgres({ pool: explained.pool })
    const scene = new Scene({ store, passTime: async () => {} })
    const { session, holder } = await scene.worked('search_code')
    const into = { targetAgent: scene.name('opus'), reason: 'A new thread', document: 'Secret plans' }
    const summaryOf = async (): Promise<KeptSummary> => {
      const { handoff, conversation } = unwrap(await scene.service.openThread({ session, holder, ...into }))
      return {
        ...{ handoffId: handoff.id, sourceThreadId: session.conversationId, targetThreadId: conversation.id },
        ...{ agentName: session.agentName, summary: 'Secret plans', plainText: 'Secret plans', tokens: 3 },
        ...{ modelUsed: 'extractive', refinements: 0, isEdited: false, timestamp: handoff.initiatedAt },
      }
    }
    const [before, after, other] = [await summaryOf(), await summaryOf(), await summaryOf()]
    await store.threadSummaries.keep(before)
    await store.threadSummaries.keep(other)
    const ids = [before.handoffId, after.handoffId]
    await explained.pool.query(`update batonpass.handoffs set document = '[erased]' where id = any ($1)`, [ids])
    await store.threadSummaries.keep(after)
    const { items } = await store.threadSummaries.list({ sourceThreadId: session.conversationId }, {})
    const texts = { summary: '[erased]', plainText: '[erased]' }
    const kept = new Map(items.map((item) => [item.handoffId, item]))
    expect([before, after, other].map(({ handoffId }) => kept.get(handoffId))).toEqual([
      { ...before, ...texts },
      { ...after, ...texts },
      other,
    ])
    await expect(
      explained.pool.query(`update batonpass.thread_summaries set summary = 'Forged' where handoff_id = $1`, [ids[0]]),
    ).rejects.toMatchObject({ code: 'BP002' })
  })
})
