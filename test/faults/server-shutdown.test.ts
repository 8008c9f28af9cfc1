import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { Scene } from '../../src/testing/scene.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { startWorker } from '../support/worker-process.ts'
import { expectWhole } from './whole-record.ts'

let url: string
let admin: pg.Pool
let scene: Scene

beforeAll(async () => {
  url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  admin = new pg.Pool({ connectionString: url, max: 4 })
  scene = new Scene({ store: await openPostgres({ pool: admin }), passTime: async () => {} })
})
afterAll(() => admin.end())

const POOLS = [
  { pool: 'the store’s own pool', ownPool: false },
  { pool: 'a caller’s pool that nobody listens to', ownPool: true },
] as const

describe.each(POOLS)('a process on $pool', ({ ownPool }) => {
  // A client is nobody's for a moment between its login, or its last statement, and whoever gets it next.
  it('outlives a shutdown that comes in the same packet as an answer, and loses nothing', async () => {
    const { session, holder } = await scene.session()
    await using proxy = await TcpProxy.before(url)
    await using worker = await startWorker({ connectionString: proxy.url, ownPool })
    proxy.shutdownEvery = 3
    const asked = { session: session.id, holder, turns: 30, isBusy: true }
    expect(await worker.carryOut('record', asked)).toBe(30)
    expect(proxy.shutdowns.login).toBeGreaterThan(3)
    expect(proxy.shutdowns.statement).toBeGreaterThan(3)
    expect((await scene.store.sessions.find(session.id))?.progress.turns).toBe(30)
    await expectWhole(scene.store, session.conversationId)
  })
})

it('eight processes outlive a storm of terminated backends, and lose nothing', async () => {
  const TURNS = 25
  const workers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => startWorker({ connectionString: url, ownPool: n % 2 === 0 })),
  )
  const working = await Promise.all(workers.map(() => scene.session()))
  let running = workers.length
  const recorded = Promise.allSettled(
    workers.map(async (worker, n) => {
      const { session, holder } = working[n] ?? (await scene.session())
      const asked = { session: session.id, holder, turns: TURNS, isBusy: true }
      return worker.carryOut('record', asked).finally(() => {
        running -= 1
      })
    }),
  )
  let ended = 0
  // It passes, as storms do: under one without an end nobody gets anywhere.
  for (let gust = 0; gust < 100 && running > 0; gust += 1) {
    const storm = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'batonpass' and datname = current_database()`,
    )
    ended += storm.rowCount ?? 0
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  expect(await recorded).toEqual(workers.map(() => ({ status: 'fulfilled', value: TURNS })))
  await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()))
  expect(ended).toBeGreaterThan(workers.length * 3)
  for (const { session } of working) {
    expect((await scene.store.sessions.find(session.id))?.progress.turns).toBe(TURNS)
    await expectWhole(scene.store, session.conversationId)
  }
}, 600_000)

describe('a caller’s pool', () => {
  const listeners = (clients: ReadonlySet<pg.PoolClient>): readonly number[] =>
    [...clients].map((client) => client.listenerCount('error'))

  it('has as many listeners after a hundred questions as after one', async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    const clients = new Set<pg.PoolClient>()
    pool.on('connect', (client) => void clients.add(client))
    const store = await openPostgres({ pool })
    const before = listeners(clients)
    for (let count = 0; count < 100; count += 1) await store.conversations.findByExternalKey('nothing')
    expect(listeners(clients)).toEqual(before)
    await store[Symbol.asyncDispose]()
    expect(['connect', 'acquire', 'error'].map((name) => pool.listenerCount(name))).toEqual([1, 0, 0])
    await pool.end()
  })

  it('that answers with promises only is used too', async () => {
    class PromisingPool extends pg.Pool {
      override connect(): never {
        return super.connect() as never
      }
    }
    const pool = new PromisingPool({ connectionString: url, max: 1 })
    const store = await openPostgres({ pool, connectTimeoutMs: 5_000 })
    expect(await store.conversations.findByExternalKey('nothing')).toBeUndefined()
    await pool.end()
  })
})
