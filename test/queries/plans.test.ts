import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HandoffHistory } from '../../src/entry/container.ts'
import { agentSessionId, conversationId, handoffId, instant, turnId } from '../../src/entry/index.ts'
import type { HandoffFilter, Page, Paged } from '../../src/entry/ports.ts'
import { readJobs } from '../../src/services/history/job-report.ts'
import { ExplainedHistory } from './explained.ts'
import { fillHistory, HANDOFFS } from './many-handoffs.ts'

let explained: ExplainedHistory

beforeAll(async () => {
  explained = await ExplainedHistory.open()
  await fillHistory(explained.pool)
}, 600_000)
afterAll(async () => explained[Symbol.asyncDispose]())

const id = (kind: string, number: number): string => `${kind}000000-0000-7000-8000-${String(number).padStart(12, '0')}`

/**
 * Each filter alone, how many it finds at least (one more than a page means there is a next), and the indexes that may
 * serve it. Of a value that every second handoff has, the newest are found as well by walking along the ages.
 */
const HANDOFF_FILTERS: readonly (readonly [string, HandoffFilter, number, readonly string[]])[] = [
  ['no filter', {}, 101, ['handoffs_by_age']],
  ['a source agent', { sourceAgent: 'agent-3' }, 101, ['handoffs_by_source_agent']],
  ['a target agent', { targetAgent: 'agent-3' }, 101, ['handoffs_by_target_agent']],
  ['an agent', { agent: 'agent-3' }, 101, ['handoffs_by_source_agent', 'handoffs_by_target_agent']],
  ['an agent nobody knows', { agent: 'x' }, 0, ['handoffs_by_source_agent', 'handoffs_by_target_agent']],
  ['a common kind', { kind: 'context_restart' }, 101, ['handoffs_by_kind', 'handoffs_by_age']],
  ['a rare kind', { kind: 'thread' }, 0, ['handoffs_by_kind']],
  ['a common status', { status: 'failed' }, 101, ['handoffs_by_status', 'handoffs_by_age']],
  ['a rare status', { status: 'accepted' }, 101, ['handoffs_by_status']],
  ['a rare word', { reason: 'rarity' }, 10, []],
  ['two words', { reason: 'step 31337' }, 1, []],
  ['a word nobody used', { reason: 'zebra' }, 0, []],
  ['a word of every reason', { reason: 'window' }, 101, ['handoffs_by_age']],
  ['a word just rare enough to look up', { reason: 'sometimes' }, 101, []],
  ['a word just too frequent to look up', { reason: 'often' }, 101, ['handoffs_by_age']],
  ['a frequent and a rare word', { reason: 'rarity window' }, 10, []],
  ['a frequent word of an agent', { reason: 'window', sourceAgent: 'agent-3' }, 101, ['handoffs_by_source_agent']],
  ['a start', { initiatedFrom: instant('2026-01-30') }, 101, ['handoffs_by_age']],
  ['an end', { initiatedBefore: instant('2026-01-02') }, 101, ['handoffs_by_age']],
  ['a conversation', { conversationId: conversationId(id('c0', 77)) }, 10, ['handoffs_by_prior_turn', 'handoffs_pkey']],
  ['open ones', { isOpen: true }, 101, ['handoffs_by_status']],
  ['overdue ones', { overdue: { unclaimedForMs: 60_000 } }, 101, ['handoffs_by_arrival']],
]

/** Through these the documents of a page are read, once their keys are known. */
const DOCUMENTS = ['handoffs_pkey', 'handoffs_by_id']

/** A page of a hundred, from an index that has them in order or leads to few: never more than this. */
const MOST_BUFFERS = 1_000

/** To see whether words are frequent some two thousand rows are looked up, which may each stand on a page of its own. */
const MOST_BUFFERS_FOR_WORDS = 2_000 + 500

describe.each(['oldest_first', 'newest_first'] as const)('50,000 handoffs, %s', (order) => {
  it.each(HANDOFF_FILTERS)('are found by %s through an index', async (what, filter, atLeast, allowed) => {
    const list = (history: HandoffHistory) => history.listHandoffs({ ...filter, order }, { limit: 100 })
    const { items, next } = await list(explained.history)
    expect(items.length + (next === undefined ? 0 : 1)).toBeGreaterThanOrEqual(atLeast)
    const { sequentialScans, indexes, roundTrips, buffers } = await explained.explain(list)
    console.log(`${what}, ${order}: ${buffers} buffers through ${indexes.join(', ')}`)
    expect({ sequentialScans, roundTrips }).toEqual({ sequentialScans: [], roundTrips: 1 })
    expect([...DOCUMENTS, ...allowed]).toEqual(expect.arrayContaining([...indexes]))
    expect(indexes).toEqual(expect.arrayContaining(allowed.length === 1 ? [...allowed] : []))
    expect(buffers).toBeLessThan(filter.reason === undefined ? MOST_BUFFERS : MOST_BUFFERS_FOR_WORDS)
  })
})

/** Looked up to see whether they are frequent; met along the ages before a page of the least frequent is full; shown. */
const MOST_READ_FOR_WORDS = 2_001 + (100 * HANDOFFS) / 2_001 + 101 + 500

describe.each(['analyzed', 'never analyzed'])('words that were asked for often, the table %s', (which) => {
  beforeAll(async () => {
    if (which === 'analyzed') return
    await explained.pool.query(`delete from pg_statistic where starelid = 'batonpass.handoffs'::regclass
      or starelid in (select indexrelid from pg_index where indrelid = 'batonpass.handoffs'::regclass)`)
  })
  afterAll(async () => explained.pool.query('analyze batonpass.handoffs'))

  it.each(['rarity', 'sometimes', 'often', 'window', 'window step', 'nearly rarity', 'zebra'])(
    '"%s" is found without reading many handoffs',
    async (reason) => {
      for (const order of ['oldest_first', 'newest_first'] as const) {
        const read = await explained.handoffsRead((history) => history.listHandoffs({ reason, order }, { limit: 100 }))
        console.log(`"${reason}", ${order}, ${which}: ${read} handoffs read`)
        expect(read).toBeLessThan(MOST_READ_FOR_WORDS)
      }
    },
  )
})

/** Lists long enough for four hundred pages, and how many items a page has. */
const LONG_LISTS: readonly (readonly [
  string,
  number,
  (history: HandoffHistory, page: Page) => Promise<Paged<unknown>>,
])[] = [
  ['all handoffs', 100, (history, page) => history.listHandoffs({}, page)],
  ['all handoffs, newest first', 100, (history, page) => history.listHandoffs({ order: 'newest_first' }, page)],
  ['handoffs of a source', 2, (history, page) => history.listHandoffs({ sourceAgent: 'agent-3' }, page)],
  ['handoffs of either side', 2, (history, page) => history.listHandoffs({ agent: 'agent-3' }, page)],
  ['handoffs of a kind', 20, (history, page) => history.listHandoffs({ kind: 'context_restart' }, page)],
  ['handoffs of a status', 20, (history, page) => history.listHandoffs({ status: 'failed' }, page)],
  ['sessions', 20, (history, page) => history.listSessions({}, page)],
]

describe('the four-hundredth page', () => {
  it.each(LONG_LISTS)('of %s reads no more than the first', async (what, limit, list) => {
    let page: Page = { limit }
    const first = await explained.explain((history) => list(history, { limit }))
    for (let number = 1; number < 400; number += 1) {
      const { next } = await list(explained.history, page)
      if (next === undefined) throw new Error(`There are only ${number} pages`)
      page = { limit, after: next }
    }
    const last = await explained.explain((history) => list(history, page))
    expect(last.sequentialScans).toEqual([])
    expect((await list(explained.history, page)).items).toHaveLength(limit)
    expect(last.buffers).toBeLessThanOrEqual(first.buffers * 1.3 + 8)
    console.log(`buffers of "${what}": page 1 ${first.buffers}, page 400 ${last.buffers}`)
  })
})

describe('other questions', () => {
  it.each<readonly [string, string, (history: HandoffHistory) => Promise<unknown>]>([
    ['sessions by age', 'agent_sessions_by_age', (history) => history.listSessions()],
    ...(
      [
        ['conversation', 'conversations_pkey', id('c0', 77)],
        ['session', 'agent_sessions_by_id', id('50', 701)],
        ['handoff', 'handoffs_by_id', id('d0', 77)],
        ['turn', 'turns_by_id', id('50', 701)],
      ] as const
    ).flatMap(([kind, index, whole]) => [
      [`a whole ${kind} id`, index, (history: HandoffHistory) => history.idsEnding(kind, whole)] as const,
      [
        `the end of a ${kind} id`,
        index,
        (history: HandoffHistory) => history.idsEnding(kind, whole.slice(-12)),
      ] as const,
    ]),
    [
      'the messages of a session',
      'agent_sessions_by_id',
      (history) => history.messagesOf(agentSessionId(id('50', 701))),
    ],
    ['sessions of an agent', 'agent_sessions_by_agent', (history) => history.listSessions({ agentName: 'agent-3' })],
    ['active sessions', 'agent_sessions_by_state', (history) => history.listSessions({ state: 'active' })],
    ['conversations', 'conversations_by_age', (history) => history.listConversations({}, { limit: 10 })],
    [
      'root conversations',
      'conversations_roots',
      (history) => history.listConversations({ isRoot: true }, { limit: 10 }),
    ],
    [
      'a subject',
      'conversations_by_subject',
      (history) => history.listConversations({ subject: 'tenant-3' }, { limit: 10 }),
    ],
    [
      'the lineage of a session',
      'agent_sessions_by_id',
      (history) => history.lineageOf({ sessionId: agentSessionId(id('50', 20001)) }),
    ],
    [
      'the lineage of a handoff',
      'handoffs_by_id',
      (history) => history.lineageOf({ handoffId: handoffId(id('d0', 202)) }),
    ],
    ['the lineage of a thread', 'conversations_by_parent', (history) => history.lineage(conversationId(id('c0', 3)))],
    ['the window at a turn', 'turns_by_id', (history) => history.windowAt(turnId(id('50', 20001)))],
  ])('%s are answered through an index, in one round trip', async (_, index, ask) => {
    const { sequentialScans, indexes, roundTrips } = await explained.explain(ask)
    expect({ sequentialScans, roundTrips }).toEqual({ sequentialScans: [], roundTrips: 1 })
    expect(indexes).toContain(index)
  })
})

describe('unfinished sessions', () => {
  it('are found among all that have ended, with everything around them, in one round trip', async () => {
    const { pool } = explained
    await pool.query(`insert into batonpass.context_signals
      select conversation_id, gen_random_uuid(), id, id, 'message', null, 'Look', 'sequential', 'delivered', started_at, started_at
      from batonpass.agent_sessions, generate_series(1, 2)`)
    await pool.query(`insert into batonpass.context_monitors
      select conversation_id, id, 1, true, 'advise', '[]', '{}', '{"state": "unknown"}', false, false, 1, 0
      from batonpass.agent_sessions on conflict do nothing`)
    await pool.query(`insert into batonpass.session_leases (conversation_id, session_id, holder, expires_at)
      select conversation_id, id, holder, started_at from batonpass.agent_sessions on conflict do nothing`)
    for (const table of ['context_signals', 'context_monitors', 'session_leases'])
      await pool.query(`analyze batonpass.${table}`)
    const ask = (history: HandoffHistory) => history.unfinishedSessions({ limit: 50 })
    expect((await ask(explained.history)).items).toHaveLength(50)
    const { sequentialScans, indexes, roundTrips, buffers } = await explained.explain(ask)
    console.log(`unfinished sessions: ${buffers} buffers through ${indexes.join(', ')}`)
    expect({ sequentialScans, roundTrips }).toEqual({ sequentialScans: [], roundTrips: 1 })
    expect(indexes).toContain('agent_sessions_by_state')
    expect(buffers).toBeLessThan(MOST_BUFFERS * 2)
  })
})

describe('jobs', () => {
  const since = instant('2026-11-17T18:00Z')
  const ask = () => readJobs({ store: explained.store }, { since }, { limit: 50 })

  it('of a night are found among ten thousand sessions that had ended, in one round trip', async () => {
    const { pool } = explained
    await pool.query(`begin; set local session_replication_role = replica;
      update batonpass.agent_sessions set state = 'completed', ended_at = '2026-06-01Z' where ended_at is null;
      update batonpass.agent_sessions set ended_at = '2026-11-18T03:00Z'
      where conversation_id in (select id from batonpass.conversations where parent_id is not null order by id limit 20);
      commit`)
    await pool.query(`insert into batonpass.session_leases (conversation_id, session_id, holder, expires_at)
      select conversation_id, id, holder, started_at from batonpass.agent_sessions on conflict do nothing`)
    await pool.query('vacuum analyze')
    expect((await ask()).items).toHaveLength(20)
    const { sequentialScans, indexes, roundTrips, buffers } = await explained.explain(ask)
    console.log(`jobs of a night: ${buffers} buffers through ${indexes.join(', ')}`)
    expect({ sequentialScans, roundTrips }).toEqual({ sequentialScans: [], roundTrips: 1 })
    expect(indexes).toContain('agent_sessions_by_latest')
    // Twenty jobs of two conversations, and ten handoffs in each, which stand on pages of their own.
    expect(buffers).toBeLessThan(MOST_BUFFERS * 4)
  })
})

describe('claims that hold', () => {
  it('are not read by whoever looks for work', async () => {
    const { pool } = explained
    // What is on record stays, so this goes past the triggers.
    await pool.query(`begin; set local session_replication_role = replica;
      update batonpass.handoffs set target_agent = 'busy', claim_deadline = clock_timestamp() + interval '1 day'
      where status = 'accepted';
      update batonpass.handoffs set target_agent = 'busy'
      where id = (select id from batonpass.handoffs where status = 'initiated' order by initiated_at desc limit 1);
      commit`)
    await pool.query('vacuum batonpass.handoffs')
    const loading = `select batonpass.load_next_handoff_v1('busy', 1, gen_random_uuid())`
    expect(await explained.handoffsReadBy({ text: loading, values: [] })).toBeLessThan(10)
    const pending = await explained.handoffsRead((history) => history.pendingFor('busy', { limit: 100 }))
    expect(pending).toBeLessThan(10)
    expect((await explained.history.pendingFor('busy')).items).toHaveLength(1)
  })
})
