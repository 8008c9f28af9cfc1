import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { type ConversationId, unwrap } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import { Scene, type Worked } from '../../src/testing/scene.ts'
import { ExplainedHistory } from './explained.ts'

const MANY = 20_000

let explained: ExplainedHistory
let store: Store
let scene: Scene
let source: Worked

beforeAll(async () => {
  explained = await ExplainedHistory.open()
  store = await openPostgres({ pool: explained.pool })
  scene = new Scene({ store, passTime: async () => {} })
  source = await scene.worked('search_code')
}, 600_000)
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await explained[Symbol.asyncDispose]()
})

const delegate = async (from: Worked) => {
  const into = { targetAgent: scene.name('coder'), reason: 'A part', flags: ['delegated'] as const }
  return unwrap(await scene.service.openThread({ ...from, ...into }))
}

/** Changes rows as nobody but an administrator of the database could. */
const tamper = async (...statements: readonly string[]): Promise<void> => {
  const client = await explained.pool.connect()
  try {
    await client.query('set session_replication_role = replica')
    for (const statement of statements) await client.query(statement)
    await client.query('reset session_replication_role')
  } finally {
    client.release()
  }
}

/** How many blocks the database reads to answer. */
const buffers = async (): Promise<number> => {
  const { rows } = await explained.pool.query<{ 'QUERY PLAN': readonly { Plan: Record<string, number> }[] }>(
    `explain (analyze, buffers, format json) select * from batonpass.delegated_threads_v1($1, 1000)`,
    [source.session.conversationId],
  )
  const { Plan } = rows[0]?.['QUERY PLAN'][0] ?? { Plan: {} }
  return (Plan['Shared Hit Blocks'] ?? Number.NaN) + (Plan['Shared Read Blocks'] ?? Number.NaN)
}

describe('delegated threads that wait', () => {
  it(`cost the same with ${MANY} messages and as many handoffs beside them`, async () => {
    const first = await delegate(source)
    for (let count = 1; count < 5; count += 1) await delegate(source)
    await buffers()
    const before = await buffers()
    const id = source.session.conversationId
    const copies = (table: string, where: string, change: string): string =>
      `insert into batonpass.${table} select copy.* from batonpass.${table} original, generate_series(1, ${MANY}) n,
         jsonb_populate_record(original, jsonb_build_object('id', gen_random_uuid(), ${change})) copy
       where original.conversation_id = '${id}' and ${where}`
    await tamper(
      copies('handoffs', `original.id = '${first.handoff.id}'`, `'flags', array[]::text[], 'version', n`),
      copies('messages', 'original.sequence_number = 1', `'sequence_number', n + 100`),
    )
    for (let count = 0; count < 10; count += 1) {
      // Whatever the database knows of its tables by then: nothing new, or everything.
      if (count === 5)
        await explained.pool.query('analyze batonpass.handoffs, batonpass.messages, batonpass.agent_sessions')
      // New knowledge of a table, also by the server's own hand, is planned with once: that reads the catalogue.
      const after = Math.min(await buffers(), await buffers())
      console.log(`delegated threads that wait: ${before} buffers, then ${after}`)
      expect(after).toBeLessThanOrEqual(before * 1.3 + 20)
    }
    expect(await store.conversations.listDelegated(id)).toHaveLength(5)
  })
})

describe('a tree that was tampered into a ring', () => {
  it('has an end, and each of its conversations once', async () => {
    const root = await scene.worked('search_code')
    const child = await delegate(root)
    const grandchild = await delegate(await scene.work(child))
    const ids: readonly ConversationId[] = [root, child, grandchild].map(({ session }) => session.conversationId)
    await tamper(`update batonpass.conversations set parent_id = '${ids[2]}' where id = '${ids[0]}'`)
    for (const id of ids) expect(await store.conversations.findTree(id)).toEqual({ depth: 2, threads: 2, costUsd: 0 })
  })
})
