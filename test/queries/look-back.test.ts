import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { type AgentSessionId, unwrap, type WorkingSession } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import { answerLookBack } from '../../src/services/history/look-back-question.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

let pool: pg.Pool
let store: Store
let scene: Scene

/** Asked by the third window of a conversation about the first. */
type Question = Parameters<typeof answerLookBack>[2]['question']

beforeAll(async () => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  // One connection, so that what it reads can be counted between two looks at its counters.
  pool = new pg.Pool({ connectionString, max: 1 })
  pool.on('error', () => {})
  store = await openPostgres({ pool })
  scene = new Scene({ store, passTime: async () => {} })
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await pool.end()
})

const passOn = async (working: WorkingSession): Promise<WorkingSession> => {
  const targetAgent = scene.name(`agent-${working.session.epoch}`)
  const { handoff } = unwrap(
    await scene.service.initiateHandoff({ session: working.session.id, byHand: true, targetAgent, reason: 'Full' }),
  )
  unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
  return unwrap(await scene.service.completeHandoff({ handoff, claimant: 'worker' })) as WorkingSession
}

/** A conversation in its third window. The first made a call; so many turns came after it. */
const conversationOf = async (turns: number): Promise<AgentSessionId> => {
  let working: WorkingSession = await scene.session(scene.name('claude-code'))
  const toolCalls = [{ callId: 'cited', toolName: 'Read', argument: 'src/flaky.ts' }]
  const call = { messages: [{ role: 'assistant' as const, text: 'I look', toolCalls }] }
  const result = { messages: [{ role: 'tool' as const, text: 'the cited result', providerMessageId: 'cited' }] }
  working = { ...working, ...unwrap(await scene.service.recordTurns({ ...working, turns: [call, result] })) }
  for (let left = turns; left > 0; left -= 500) {
    const batch = Array.from({ length: Math.min(left, 500) }, () => scene.turn('read_file'))
    working = { ...working, ...unwrap(await scene.service.recordTurns({ ...working, turns: batch })) }
  }
  const second = await passOn(working)
  const spoken = unwrap(await scene.service.recordTurn({ ...second, ...scene.turn('run_tests') }))
  return (await passOn({ ...second, ...spoken })).session.id
}

const COUNTED = `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as read, coalesce(sum(seq_scan), 0)::int as scans
  from pg_stat_xact_user_tables where schemaname = 'batonpass'`

/** Old versions of a row are read too, until the server has cleaned them up: some rows more or less, at any time. */
const SLACK = 3

/** The rows that a question reads, and the tables that it reads from end to end. */
const costOf = async (sessionId: AgentSessionId, question: Question) => {
  const ask = async () => unwrap(await answerLookBack(store.lookBacks, { sessionId }, { question }))
  // A connection plans a function when it first runs it, and may plan it for any values after some more.
  for (let times = 0; times < 6; times += 1) await ask()
  await pool.query('begin')
  const before = (await pool.query<{ read: number; scans: number }>(COUNTED)).rows[0]
  const answer = await ask()
  const after = (await pool.query<{ read: number; scans: number }>(COUNTED)).rows[0]
  await pool.query('rollback')
  return {
    answer,
    rows: (after?.read ?? Number.NaN) - (before?.read ?? 0),
    scans: (after?.scans ?? Number.NaN) - (before?.scans ?? 0),
  }
}

describe('what looking back reads', () => {
  let few: AgentSessionId
  let many: AgentSessionId
  let more: AgentSessionId

  beforeAll(async () => {
    few = await conversationOf(10)
    many = await conversationOf(1_500)
    more = await conversationOf(10_000)
    await pool.query('analyze')
  }, 600_000)

  it.each([
    ['a cited call', { by: 'call', callId: '[call:cited]' }, ['I look', 'the cited result']],
    ['a turn', { by: 'turn', epoch: 1, turn: 2 }, ['the cited result']],
    ['a call nobody made', { by: 'call', callId: 'toolu_none' }, []],
    ['a turn that never was', { by: 'turn', epoch: 7, turn: 2 }, []],
  ] as const)('is the same for %s after 10 turns and after 10,000', async (_, question, texts) => {
    const [short, long] = [await costOf(few, question), await costOf(more, question)]
    for (const { answer } of [short, long]) expect(answer?.found.map(({ passage }) => passage.text)).toEqual(texts)
    expect(Math.abs(long.rows - short.rows)).toBeLessThanOrEqual(SLACK)
    expect([short.scans, long.scans]).toEqual([0, 0])
    expect(long.rows).toBeLessThan(20)
  })

  it.each([
    ['words', { by: 'words', words: 'nowhere said' }],
    ['a file', { by: 'file', name: 'nowhere.ts' }],
  ] as const)('has a bound for %s, and says how far it came', async (_, question) => {
    const [short, middle, long] = [
      ...[await costOf(few, question), await costOf(many, question), await costOf(more, question)],
    ]
    expect(short?.answer?.isWhole).toBe(true)
    for (const found of [middle, long]) {
      expect(found?.answer).toMatchObject({ found: [], isWhole: false, searchedBackTo: { epoch: 1 } })
      expect(found?.scans).toBe(0)
    }
    expect(Math.abs((long?.rows ?? Number.NaN) - (middle?.rows ?? Number.NaN))).toBeLessThanOrEqual(SLACK)
    expect(long?.rows).toBeLessThan(4_100)
  })

  it('finds what is further back when it is asked to go on', async () => {
    let cursor: string | undefined
    for (let asked = 1; asked < 20; asked += 1) {
      const question = { by: 'file', name: 'src/flaky.ts' } as const
      const request = cursor === undefined ? { question } : { question, cursor }
      const answer = unwrap(await answerLookBack(store.lookBacks, { sessionId: more }, request))
      cursor = answer?.next
      if (cursor !== undefined) continue
      expect(answer?.found.map(({ calls }) => calls.map(({ callId }) => callId))).toEqual([['cited']])
      expect(asked).toBe(11)
      return
    }
    expect.fail('It never came to the begin')
  })
})
