import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClosingClient } from '../../src/adapters/postgres/open/closing-client.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { PostgresWakeUps } from '../../src/adapters/postgres/open/wake-ups.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { systemClock } from '../../src/entry/container.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'
import { Heard } from './heard.ts'

const { TEST_DATABASE_URL: SERVER = '', TEST_POOLER_URL: POOLER } = process.env

let database: string
let url: string
let store: Store
let scene: Scene

beforeAll(async () => {
  database = await cloneDatabase()
  url = withDatabase(SERVER, database)
  store = await openPostgres({ connectionString: url })
  scene = new Scene({ store, passTime: async () => {} })
})
afterAll(() => store[Symbol.asyncDispose]())

/** A client from outside that listens on the channel, and what it was sent. */
const eavesdrop = async () => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const sent: string[] = []
  client.on('notification', ({ payload = '' }) => void sent.push(payload))
  await client.query('listen batonpass')
  /** Notifications come in the order of commits: what was sent before this one has come when it has. */
  const all = async (): Promise<readonly string[]> => {
    await client.query(`select pg_notify('batonpass', ' last')`)
    while (!sent.includes(' last')) await client.query('select 1')
    return sent.filter((payload) => !payload.startsWith(' '))
  }
  return { all, [Symbol.asyncDispose]: () => client.end() }
}

describe.each(['memory', 'postgres'])('the wake-ups of %s', (kind) => {
  const stage = (): Scene =>
    kind === 'memory' ? new Scene({ store: new MemoryStore({ clock: systemClock }), passTime: async () => {} }) : scene

  it('name the agent that a handoff is for', async () => {
    const at = stage()
    using heard = new Heard(at.store.wakeUps)
    expect(await heard.told()).toEqual({ isHeard: true })
    const { handoff } = await at.initiated({ targetAgent: 'one "agent"\u0000, \ud800' })
    await heard.woken(handoff.targetAgent)
    expect(heard.agents.filter((agent) => agent !== undefined)).toEqual([handoff.targetAgent])
  })

  it('end with the listener', async () => {
    const at = stage()
    const heard = new Heard(at.store.wakeUps)
    using after = new Heard(at.store.wakeUps)
    await Promise.all([heard.told(), after.told()])
    heard[Symbol.dispose]()
    const told = heard.agents.length
    const { handoff } = await at.initiated()
    await after.woken(handoff.targetAgent)
    expect(heard.agents).toHaveLength(told)
  })
})

describe('a server', () => {
  it('sends one notification for a handoff to another agent, and none for anything else', async () => {
    await using line = await eavesdrop()
    const { handoff, source } = await scene.initiated()
    unwrap(await scene.service.acceptHandoff({ handoff: handoff.id, claimant: 'somebody' }))
    unwrap(await scene.service.completeHandoff({ handoff: handoff.id, claimant: 'somebody' }))
    const working = await scene.worked('read_file')
    await scene.work(working, 'edit_file')
    const restart = { ...working, targetAgent: working.session.agentName, reason: 'The window is full' }
    unwrap(await scene.service.initiateHandoff({ ...restart, kind: 'context_restart' }))
    expect(source.session.agentName).not.toBe(handoff.targetAgent)
    expect(await line.all()).toEqual([handoff.targetAgent])
  })

  it('sends an empty one where the name is long, which wakes everybody', async () => {
    await using line = await eavesdrop()
    using heard = new Heard(store.wakeUps)
    await heard.told()
    // Longer than the services take a name, so that no commit can fail of it.
    const added = JSON.stringify([{ kind: 'agent_transfer', source_agent: 'a', target_agent: 'n'.repeat(9_000) }])
    await onServer(url, `select batonpass.wake_workers_v1('${added}')`)
    expect(await line.all()).toEqual([''])
    while (heard.agents.filter((agent) => agent === undefined).length < 2) await line.all()
  })

  it('sends nothing for a transaction that is rolled back, and nothing before the commit', async () => {
    await using line = await eavesdrop()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const initiate = async (targetAgent: string): Promise<void> => {
      const source = await scene.worked('read_file')
      await client.query('begin')
      unwrap(await scene.service.with(client).initiateHandoff({ ...source, targetAgent, reason: 'Escalated' }))
    }
    await initiate('nobody')
    await client.query('rollback')
    await initiate('somebody')
    expect(await line.all()).toEqual([])
    await client.query('commit')
    await client.end()
    await using later = await eavesdrop()
    expect(await later.all()).toEqual([])
    expect(await line.all()).toEqual(['somebody'])
  })

  it('does not wake those who listen in another schema', async () => {
    await using other = await openPostgres({ connectionString: url, schema: 'Ten$nt’s "own"', autoMigrate: true })
    using heard = new Heard(other.wakeUps)
    using ours = new Heard(store.wakeUps)
    await Promise.all([heard.told(), ours.told()])
    const { handoff } = await scene.initiated()
    await ours.woken(handoff.targetAgent)
    const theirs = await new Scene({ store: other, passTime: async () => {} }).initiated()
    await heard.woken(theirs.handoff.targetAgent)
    expect(heard.agents).not.toContain(handoff.targetAgent)
    expect(ours.agents).not.toContain(theirs.handoff.targetAgent)
  })

  it('has a connection for each listener, with a name, that is closed with the store', async () => {
    const named = async (): Promise<number> => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const asked = `select from pg_stat_activity where application_name = 'batonpass wake-ups' and datname = '${database}'`
      const { rowCount } = await client.query(asked)
      await client.end()
      return rowCount ?? 0
    }
    while ((await named()) > 0);
    const closing = await openPostgres({ connectionString: url })
    expect(await named()).toBe(0)
    const heard = new Heard(closing.wakeUps)
    await heard.told()
    expect(await named()).toBe(1)
    await closing[Symbol.asyncDispose]()
    while ((await named()) > 0);
  })
})

const POOLERS = POOLER === undefined ? [] : [{ line: 'PgBouncer', pooler: POOLER }]

describe.each(POOLERS)('behind $line', ({ pooler }) => {
  it('nobody is woken, and it says so', async () => {
    await using pooled = await openPostgres({ connectionString: withDatabase(pooler, database), pooled: true })
    using heard = new Heard(pooled.wakeUps)
    expect(await heard.told()).toEqual({ isHeard: false, reason: expect.stringContaining('pooler') as unknown })
  })

  it('of which nobody has told us, it is found out', async () => {
    const through = withDatabase(pooler, database)
    const pool = new pg.Pool({ connectionString: through, max: 1 })
    const wakeUps = new PostgresWakeUps({
      schema: 'batonpass',
      client: async () => new ClosingClient({ connectionString: through }),
      send: (channel, payload) => pool.query('select pg_notify($1, $2)', [channel, payload]),
    })
    using heard = new Heard(wakeUps)
    expect(await heard.told()).toEqual({ isHeard: false, reason: expect.stringContaining('pooler') as unknown })
    expect(heard.agents).toEqual([])
    await wakeUps.close()
    await pool.end()
  })
})
