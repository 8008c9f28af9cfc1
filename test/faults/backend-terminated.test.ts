import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { startWorker } from '../support/worker-process.ts'
import { ALL_COMMANDS, COMMANDS } from './commands.ts'
import { added, countRows, expectStored, expectWhole, NOTHING } from './whole-record.ts'

const OURS = `application_name = 'batonpass' and datname = current_database()`

let url: string
let admin: pg.Pool
let store: Store
let scene: Scene

beforeAll(async () => {
  url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  admin = new pg.Pool({ connectionString: url, max: 3 })
  store = await openPostgres({ connectionString: url, maxConnections: 3 })
  scene = new Scene({ store: await openPostgres({ pool: admin }), passTime: async () => {} })
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await admin.end()
})

/** Ends every backend that serves the store, and says how many there were. */
const terminate = async (which = 'true'): Promise<number> => {
  const ended = await admin.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${OURS} and ${which}`,
  )
  return ended.rowCount ?? 0
}

const WAITING = `wait_event_type = 'Lock'`

/** Whether a backend of the store comes to wait for a lock before the command is over. */
const waits = async (command: Promise<unknown>): Promise<boolean> => {
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  command.then(over, over)
  while (!isOver) {
    const found = await admin.query(`select from pg_stat_activity where ${OURS} and ${WAITING}`)
    if (found.rowCount) return true
  }
  return false
}

/** Holds rows of a conversation until it is disposed of. */
const lock = async (table: string, conversation: string): Promise<AsyncDisposable> => {
  const client = await admin.connect()
  await client.query('begin')
  await client.query(`select from batonpass.${table} where conversation_id = $1 for update`, [conversation])
  return {
    [Symbol.asyncDispose]: async () => {
      await client.query('rollback')
      client.release()
    },
  }
}

describe.each(ALL_COMMANDS)('%s', (_, prepare) => {
  // Something idle in the pool, to be terminated.
  beforeEach(async () => {
    await Promise.all([1, 2, 3].map(() => store.conversations.findByExternalKey('nothing')))
  })

  it.each([0, 1, 5])('answers when its backends were terminated %i ms before', async (delay) => {
    const { ask } = await prepare(scene)
    const there = await countRows(admin)
    expect(await terminate()).toBeGreaterThan(0)
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    const answer = unwrap(await ask(scene.serviceOver(store), commandId(scene.ids.next())))
    await expectStored(scene.store, answer)
    expect(added(there, await countRows(admin)).commands).toBe(1)
  })

  it('answers when its backend is terminated in the middle of the commit', async () => {
    const met: string[] = []
    for (const table of ['agent_sessions', 'audit_heads']) {
      const { ask, conversationId } = await prepare(scene)
      if (conversationId === undefined) return
      const there = await countRows(admin)
      const held = await lock(table, conversationId)
      const asked = ask(scene.serviceOver(store), commandId(scene.ids.next()))
      const isWaiting = await waits(asked)
      if (isWaiting) {
        met.push(table)
        expect(added(there, await countRows(admin))).toEqual(NOTHING)
        expect(await terminate(WAITING)).toBe(1)
      }
      await held[Symbol.asyncDispose]()
      await expectStored(scene.store, unwrap(await asked))
      expect(added(there, await countRows(admin)).commands).toBe(1)
    }
    expect(met).toContain('audit_heads')
  })

  it('is kept when its backends are terminated right after, and the next command works', async () => {
    const { ask } = await prepare(scene)
    const answer = unwrap(await ask(scene.serviceOver(store), commandId(scene.ids.next())))
    await terminate()
    await expectStored(scene.store, answer)
    const { conversation } = unwrap(await scene.serviceOver(store).openConversation({ originalTask: 'Next' }))
    expect(await store.conversations.find(conversation.id)).toStrictEqual(conversation)
  })
})

describe.each(['turn', 'complete', 'thread'] as const)('%s whose every try is terminated', (name) => {
  it('fails for now, keeps nothing, and succeeds under the same command id', async () => {
    const { ask, conversationId } = await COMMANDS[name](scene)
    const id = commandId(scene.ids.next())
    const there = await countRows(admin)
    const held = await lock('audit_heads', conversationId ?? '')
    const failing = ask(scene.serviceOver(store), id)
    const outcome = failing.then(
      () => undefined,
      (failure: unknown) => failure,
    )
    let tries = 0
    while (await waits(outcome)) tries += await terminate(WAITING)
    const failure = await outcome
    expect(failure).toBeInstanceOf(StoreFailure)
    expect(failure).toMatchObject({ code: 'store.unavailable', retryable: true })
    expect(tries).toBeGreaterThan(1)
    expect(added(there, await countRows(admin))).toEqual(NOTHING)
    await held[Symbol.asyncDispose]()
    await expectStored(scene.store, unwrap(await ask(scene.serviceOver(store), id)))
    expect(added(there, await countRows(admin)).commands).toBe(1)
  })
})

describe.each([
  { pool: 'the store’s own pool', ownPool: false },
  { pool: 'a caller’s pool that nobody listens to', ownPool: true },
])('a process of its own on $pool', ({ ownPool }) => {
  it('lives through the end of its connections again and again, and loses nothing', async () => {
    const { session, holder } = await scene.session()
    await using worker = await startWorker({ connectionString: url, ownPool })
    let isOver = false
    const recorded = worker.carryOut('record', { session: session.id, holder, turns: 60 }).finally(() => {
      isOver = true
    })
    recorded.catch(() => {})
    let ended = 0
    while (!isOver) {
      ended += await terminate()
      await new Promise((resolve) => setTimeout(resolve, 37))
    }
    expect(await recorded).toBe(60)
    expect(ended).toBeGreaterThan(3)
    expect((await scene.store.sessions.find(session.id))?.progress.turns).toBe(60)
    await expectWhole(scene.store, session.conversationId)
  })
})
