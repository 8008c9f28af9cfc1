import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { mustHold } from '../../src/services/commands/answers.ts'
import type { HandoffService } from '../../src/services/handoff-service.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { countRows, expectWhole } from './whole-record.ts'

const CALLERS = 200

let url: string
let pool: pg.Pool
let admin: pg.Pool

beforeAll(async () => {
  url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  pool = new pg.Pool({ connectionString: url, max: 2, application_name: 'batonpass' })
  admin = new pg.Pool({ connectionString: url, max: 1 })
})
afterAll(async () => {
  await pool.end()
  await admin.end()
})

/** From an empty conversation to a completed handoff, with a refusal on the way. */
const wholeStory = async (scene: Scene, service: HandoffService, caller: number) => {
  const again = async <T>(command: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await command()
      } catch (error) {
        if (!(error instanceof StoreFailure && error.retryable)) throw error
      }
    }
  }
  const id = () => commandId(scene.ids.next())
  const [opening, starting, turning, passing, taking] = [id(), id(), id(), id(), id()]
  const agentName = `agent-${caller}`
  const open = () => service.openConversation({ originalTask: 'Fix it', commandId: opening })
  const { conversation } = unwrap(await again(open))
  const agent = { conversationId: conversation.id, agentName, backend: 'scripted' }
  const working = mustHold(unwrap(await again(() => service.startSession({ ...agent, commandId: starting }))))
  expect((await again(() => service.startSession(agent))).ok).toBe(false)
  const turn = { ...working, ...scene.turn('read_file'), commandId: turning }
  const { session, holder } = unwrap(await again(() => service.recordTurn(turn)))
  const to = { session, holder, targetAgent: 'opus', reason: 'Full', commandId: passing }
  const { handoff } = unwrap(await again(() => service.initiateHandoff(to)))
  const next = unwrap(await again(() => service.completeHandoff({ handoff, commandId: taking })))
  expect(next.session.epoch).toBe(2)
  return conversation.id
}

const expectNoLeak = (): void => {
  expect(pool.waitingCount).toBe(0)
  expect(pool.totalCount).toBeLessThanOrEqual(2)
  expect(pool.idleCount).toBe(pool.totalCount)
}

const callers = Array.from({ length: CALLERS }, (_, caller) => caller)

it('two hundred callers on two connections all get through, and leave both behind', async () => {
  const before = await countRows(admin)
  const store = await openPostgres({ pool })
  const scene = new Scene({ store, passTime: async () => {} })
  const conversations = await Promise.all(callers.map((caller) => wholeStory(scene, scene.service, caller)))
  expectNoLeak()
  expect(pool.totalCount).toBe(2)
  const after = await countRows(admin)
  expect(after.conversations - before.conversations).toBe(CALLERS)
  expect(after.handoffs - before.handoffs).toBe(CALLERS)
  expect(after.agent_sessions - before.agent_sessions).toBe(2 * CALLERS)
  for (const id of conversations.slice(0, 10)) await expectWhole(store, id)
  const listeners = pool.listenerCount('error')
  await store[Symbol.asyncDispose]()
  expect(pool.listenerCount('error')).toBe(listeners - 1)
  expect(pool.ending).toBe(false)
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  expectNoLeak()
})

it('the same while connections are terminated under them', async () => {
  const before = await countRows(admin)
  await using store = await openPostgres({ pool })
  const scene = new Scene({ store, passTime: async () => {} })
  let isOver = false
  const all = Promise.all(callers.map((caller) => wholeStory(scene, scene.service, caller))).finally(() => {
    isOver = true
  })
  let ended = 0
  while (!isOver) {
    const found = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'batonpass' and datname = current_database()`,
    )
    ended += found.rowCount ?? 0
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  const conversations = await all
  expect(ended).toBeGreaterThan(2)
  // A connection that has just been ended is still counted until the pool has heard of it.
  await expect
    .poll(() => pool.idleCount === pool.totalCount && pool.waitingCount === 0, { timeout: 600_000 })
    .toBe(true)
  expectNoLeak()
  const after = await countRows(admin)
  expect(after.conversations - before.conversations).toBe(CALLERS)
  expect(after.handoffs - before.handoffs).toBe(CALLERS)
  expect(after.agent_sessions - before.agent_sessions).toBe(2 * CALLERS)
  for (const id of conversations) await expectWhole(store, id)
})

it('a caller who waits too long for a connection is told, and takes none with him', async () => {
  await using store = await openPostgres({ pool, connectTimeoutMs: 300 })
  const taken = [await pool.connect(), await pool.connect()]
  const asked = store.conversations.findByExternalKey('a')
  await expect(asked).rejects.toMatchObject({ code: 'store.unavailable', retryable: true })
  for (const client of taken) client.release()
  expect(await store.conversations.findByExternalKey('a')).toBeUndefined()
  await expect.poll(() => pool.idleCount, { timeout: 600_000 }).toBe(2)
  expectNoLeak()
})
