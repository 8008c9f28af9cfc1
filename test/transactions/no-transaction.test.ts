import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HandoffService } from '../../src/entry/container.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { CallerTransaction } from '../../src/entry/ports.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { Scene } from '../../src/testing/scene.ts'
import { Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage[Symbol.asyncDispose]())

const bind = (given: unknown): unknown => stage.scene.service.with(given as CallerTransaction)

describe('what is no open transaction', () => {
  it('is refused: a pool', () => {
    expect(() => bind(stage.pool)).toThrow(/^This is no open transaction: it is a pool/)
  })

  it('is refused: a client on which nothing was begun', async () => {
    const client = await stage.pool.connect()
    try {
      await client.query('select 1')
      expect(() => bind(client)).toThrow(/nothing was begun on that client.*after its "begin"/)
    } finally {
      client.release()
    }
  })

  it('is refused: a Kysely outside of a transaction', () => {
    const kysely = new Kysely({ dialect: new PostgresDialect({ pool: stage.pool }) })
    expect(() => bind(kysely)).toThrow(/a Kysely outside of any transaction/)
  })

  it.each([[undefined], [null], ['begin'], [{}]])('is refused: %j', (given) => {
    expect(() => bind(given)).toThrow(TypeError)
  })

  it('does not compile', () => {
    const compiled = (_: (service: HandoffService, kysely: Kysely<unknown>) => unknown): void => {}
    compiled((service, kysely) => [
      service.with(new pg.Client()),
      kysely.transaction().execute(async (transaction) => service.with(transaction)),
      kysely
        .startTransaction()
        .execute()
        .then((transaction) => service.with(transaction)),
      // @ts-expect-error each statement of a pool may take another connection
      service.with(new pg.Pool()),
      // @ts-expect-error each statement of a Kysely may take another connection
      service.with(kysely),
    ])
    expect(true).toBe(true)
  })
})

describe('a store without connections of its caller', () => {
  it('says so, and what to do', async () => {
    const { service } = new Scene({ store: new MemoryStore({ clock: new FixedClock() }), passTime: async () => {} })
    const client = { query: async () => ({ rows: [] }) }
    expect(() => service.with(client)).toThrow(/embedded, or in memory. Use a store on a Postgres server/)
  })
})
