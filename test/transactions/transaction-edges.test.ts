import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene, type Worked } from '../../src/testing/scene.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { Stage } from './stage.ts'

let stage: Stage
let job = 0

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage[Symbol.asyncDispose]())

const to = () => ({ targetAgent: stage.scene.name('opus'), reason: 'The window is nearly full' })

/** Waits until some statement in the database waits for another. */
const somebodyWaits = async (): Promise<void> => {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await stage.pool.query(waiting)).rowCount === 0) await pause(5)
}

describe('a transaction in another database', () => {
  it('is told that it is in another one, and not to migrate it', async () => {
    const { scene } = stage
    const working = await scene.worked()
    const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
    await client.connect()
    try {
      await client.query('begin')
      const asked = scene.service.with(client).recordTurn({ ...working, ...scene.turn('elsewhere') })
      const failure = await asked.then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failure).toMatchObject({ code: 'store.not_migrated', retryable: false })
      expect(String(failure)).toContain('Begin it in the database that the store was opened on')
      expect(String(failure)).not.toContain('baton migrate up')
    } finally {
      await client.end()
    }
  })
})

describe('two transactions', () => {
  it('race for one session: the second waits, then has a conflict and is usable', async () => {
    const { scene, kept } = stage
    const working = await scene.worked()
    const [first, second] = [++job, ++job]
    const outcomes = await stage.withClient(async ({ client, addJob }) => {
      await addJob(first)
      const one = await scene.service.with(client).recordTurn({ ...working, ...scene.turn('first') })
      const other = stage.withClient(async ({ client: theirs, addJob: addTheirs }) => {
        const two = await scene.service.with(theirs).recordTurn({ ...working, ...scene.turn('second') })
        await addTheirs(second)
        return two
      })
      await somebodyWaits()
      return [one, () => other] as const
    })
    expect(outcomes[0].ok).toBe(true)
    expect(await outcomes[1]()).toMatchObject({ ok: false, error: { code: 'transaction.conflict' } })
    expect(await stage.jobs()).toEqual(expect.arrayContaining([first, second]))
    expect((await kept.session(working.session.id)).progress.turns).toBe(2)
  })

  it('name one command: the second gets the answer of the first', async () => {
    const { scene, kept } = stage
    const key = scene.name('job')
    const open = { originalTask: 'Fix it', externalKey: key, commandId: commandId(scene.ids.next()) }
    const both = await stage.withClient(async ({ client }) => {
      const one = unwrap(await scene.service.with(client).openConversation(open))
      const other = stage.withClient(({ client: theirs }) => scene.service.with(theirs).openConversation(open))
      await somebodyWaits()
      return [one, () => other] as const
    })
    const { conversation } = unwrap(await both[1]())
    expect(conversation.id).toBe(both[0].conversation.id)
    expect(await kept.audit(conversation.id)).toHaveLength(1)
  })

  it('that wait for each other: they have conflicts instead of failures, and are usable', async () => {
    const { scene, kept } = stage
    const [left, right] = [await scene.worked(), await scene.worked()]
    let arrived = 0
    let meet = (): void => {}
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    const inOrder = (first: Worked, second: Worked) =>
      stage.withClient(async ({ client, addJob }) => {
        const handoffs = scene.service.with(client)
        const one = await handoffs.recordTurn({ ...first, ...scene.turn() })
        arrived += 1
        if (arrived === 2) meet()
        await met
        const two = await handoffs.recordTurn({ ...second, ...scene.turn() })
        await addJob(++job)
        return [one.ok, two.ok || two.error.code]
      })
    const each = [true, 'transaction.conflict']
    expect(await Promise.all([inOrder(left, right), inOrder(right, left)])).toEqual([each, each])
    expect(await stage.jobs()).toEqual(expect.arrayContaining([job - 1, job]))
    for (const { session } of [left, right]) expect((await kept.session(session.id)).progress.turns).toBe(2)
  })
})

describe('a transaction', () => {
  it.each(['repeatable read', 'serializable'])('of isolation level %s has a conflict and is usable', async (level) => {
    const { scene, kept } = stage
    const working = await scene.worked()
    const id = ++job
    await stage.withClient(async ({ client, addJob }) => {
      await addJob(id)
      unwrap(await scene.service.recordTurn({ ...working, ...scene.turn('theirs') }))
      const refused = await scene.service.with(client).recordTurn({ ...working, ...scene.turn('ours') })
      expect(refused).toMatchObject({ ok: false, error: { code: 'transaction.conflict' } })
    }, `begin isolation level ${level}`)
    expect(await stage.jobs()).toContain(id)
    expect((await kept.session(working.session.id)).progress.turns).toBe(2)
  })

  it('with a lock timeout of the caller has a conflict and is usable', async () => {
    const { scene } = stage
    const working = await scene.worked()
    const id = ++job
    await stage.withClient(async ({ client }) => {
      unwrap(await scene.service.with(client).recordTurn({ ...working, ...scene.turn() }))
      await stage.withClient(async ({ client: theirs, addJob }) => {
        await theirs.query(`set local lock_timeout = '20ms'`)
        const refused = await scene.service.with(theirs).recordTurn({ ...working, ...scene.turn() })
        expect(refused).toMatchObject({ ok: false, error: { code: 'transaction.conflict' } })
        await addJob(id)
      })
    })
    expect(await stage.jobs()).toContain(id)
  })

  it('keeps the deferred constraints of the caller deferred, and checks ours in every command', async () => {
    const { scene } = stage
    const working = await scene.session()
    const [parent, child] = [++job, ++job]
    await stage.withClient(async ({ client, addJob }) => {
      // Its parent comes later: right at the commit, and wrong before.
      await addJob(child, parent)
      const handoffs = scene.service.with(client)
      const worked = unwrap(await handoffs.recordTurn({ ...working, ...scene.turn('read_file') }))
      const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, ...to() }))
      unwrap(await handoffs.cancelHandoff({ handoff, reason: 'Not now' }))
      await addJob(parent)
    })
    expect(await stage.jobs()).toEqual(expect.arrayContaining([parent, child]))
  })

  it('that sets every constraint to immediate takes commands all the same', async () => {
    const { scene, kept } = stage
    const working = await scene.session()
    await stage.withClient(async ({ client }) => {
      await client.query('set constraints all immediate')
      unwrap(await scene.service.with(client).recordTurn({ ...working, ...scene.turn('read_file') }))
      await client.query('set constraints all immediate')
    })
    expect((await kept.session(working.session.id)).progress.turns).toBe(1)
  })

  it('is to be rolled back after a failure, and its commands then fail without being sent again', async () => {
    const { scene } = stage
    const working = await scene.session()
    const failing = stage.withClient(async ({ client }) => {
      await expect(client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' })
      await scene.service.with(client).recordTurn({ ...working, ...scene.turn() })
    })
    await expect(failing).rejects.toMatchObject({ name: 'StoreFailure', code: 'store.failed', retryable: false })
  })

  it('that has ended takes nothing more', async () => {
    const { scene, kept } = stage
    const working = await scene.session()
    const [late] = await stage.withClient(async ({ client }) => [scene.service.with(client)])
    const turn = { ...working, ...scene.turn() }
    await expect(late?.recordTurn(turn)).rejects.toMatchObject({ code: 'store.failed', message: /has ended/ })
    const [later] = await stage.within('a transaction of Kysely', async ({ transaction }) => [
      scene.service.with(transaction),
    ])
    await expect(later?.recordTurn(turn)).rejects.toMatchObject({ code: 'store.unavailable' })
    expect((await kept.session(working.session.id)).progress.turns).toBe(0)
  })

  it('takes commands that are asked at once, one after the other', async () => {
    const { scene, kept } = stage
    const working = await scene.session()
    const warnings: Error[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on('warning', warn)
    await stage.withClient(async ({ client }) => {
      const handoffs = scene.service.with(client)
      const asked = await Promise.all([1, 2, 3].map(() => handoffs.captureSnapshot(working)))
      expect(asked.map(({ ok }) => ok)).toEqual([true, true, true])
    })
    process.off('warning', warn)
    // The driver warns when a client is asked two things at once.
    expect(warnings).toEqual([])
    expect(await kept.snapshots(working.session.id)).toHaveLength(4)
  })

  it('does not wait for a handoff', async () => {
    const claimed = await stage.withClient(({ client }) =>
      stage.scene.service.with(client).claimNext({ targetAgent: 'nobody', claimant: 'worker', wait: true }),
    )
    expect(claimed).toMatchObject({ error: { code: 'input.invalid', fields: [{ field: 'wait' }] } })
  })
})

describe('the wire', () => {
  it('is crossed twice for each command: one read, one write', async () => {
    const { options } = stage.pool
    await using proxy = await TcpProxy.before(options.connectionString ?? '')
    await using store = await openPostgres({ connectionString: proxy.url })
    const scene = new Scene({ store, passTime: async () => {} })
    const working = await scene.worked('read_file')
    const { Pool } = (await import('pg')).default
    const pool = new Pool({ connectionString: proxy.url })
    const client = await pool.connect()
    const trips = async (work: () => Promise<unknown>): Promise<number> => (await proxy.counting(work)).roundTrips
    await client.query('begin')
    const handoffs = scene.service.with(client)
    const record = await trips(() => handoffs.recordTurn({ ...working, ...scene.turn('run_tests') }))
    const initiate = await trips(() => handoffs.initiateHandoff({ ...working, ...to() }))
    const repeated = { ...working, ...scene.turn(), commandId: commandId(scene.ids.next()) }
    const refused = await trips(() => handoffs.recordTurn(repeated))
    await client.query('commit')
    const told = await trips(() => handoffs.committed())
    client.release()
    await pool.end()
    expect({ record, initiate, refused, told }).toEqual({ record: 2, initiate: 2, refused: 1, told: 1 })
  })
})

describe('the schema', () => {
  it('has no deferred constraint that the functions do not name', async () => {
    const deferred = await stage.pool.query<{ name: string }>(
      `select conname::text as name from pg_constraint
       where condeferrable and connamespace = 'batonpass'::regnamespace order by conname`,
    )
    const { rows } = await stage.pool.query<{ source: string }>(
      `select prosrc as source from pg_proc where proname in ('keep_unit_v1', 'commit_within_v1') order by proname`,
    )
    expect(deferred.rows.length).toBeGreaterThan(3)
    for (const { name } of deferred.rows) for (const { source } of rows) expect(source).toContain(`"batonpass".${name}`)
  })
})
