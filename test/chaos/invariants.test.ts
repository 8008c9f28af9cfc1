import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { brokenInvariants, INVARIANTS } from './check/invariants.ts'

let client: pg.Client

/** Something of everything: a working session, a lease, an open handoff, a completed one, a thread. */
beforeAll(async () => {
  const url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await using store = await openPostgres({ connectionString: url })
  const scene = new Scene({ store, passTime: async () => {} })
  await scene.initiated()
  const { handoff } = await scene.initiated()
  unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
  const next = unwrap(await scene.service.completeHandoff({ handoff, claimant: 'worker', leaseMs: 60_000 }))
  const worked = unwrap(await scene.service.recordTurn({ ...next, ...scene.turn('read_file') }))
  client = new pg.Client({ connectionString: url })
  await client.connect()
  // As if a later transaction had written to the stream first: its figure never falls, and the thread begins another.
  await client.query(`update batonpass.audit_heads set transaction_id = '1000000000'`)
  unwrap(
    await scene.service.openThread({ session: worked.session, byHand: true, targetAgent: 'opus', reason: 'Aside' }),
  )
})
afterAll(() => client.end())

describe('invariants', () => {
  it('hold where everything is in order', async () => {
    expect(await brokenInvariants(client)).toEqual([])
  })

  it.each(INVARIANTS)('$name: seen when it is broken', async ({ name, breaks }) => {
    await client.query('begin')
    try {
      await client.query('set local session_replication_role = replica')
      await client.query(breaks)
      const broken = await brokenInvariants(client)
      expect(broken.map((what) => what.slice(0, name.length))).toContain(name)
    } finally {
      await client.query('rollback')
    }
  })

  it('have names that tell them apart', () => {
    expect(new Set(INVARIANTS.map(({ name }) => name)).size).toBe(INVARIANTS.length)
  })
})
