import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { Migrator } from '../../src/adapters/postgres/migrate/migrator.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ask, emptyDatabase, expectedSnapshot, throughPooler } from './empty-database.ts'

const EXPECTED = await expectedSnapshot()

const sceneOn = (store: SqlStore): Scene => new Scene({ store, passTime: async () => {} })

/** Two tenants of one database do the same work under the same key; each finds its own and nothing of the other's. */
const keepApart = async (first: SqlStore, second: SqlStore): Promise<void> => {
  const key = { originalTask: 'Rotate the key', externalKey: 'job-1' }
  const work = async (store: SqlStore) => {
    const scene = sceneOn(store)
    const { conversation } = unwrap(await scene.service.openConversation(key))
    const started = await scene.session('claude-code', conversation)
    const worked = unwrap(await scene.service.recordTurn({ ...started, ...scene.turn('read_file') }))
    const request = { ...worked, targetAgent: 'opus', reason: 'The window is nearly full' }
    const { handoff } = unwrap(await scene.service.initiateHandoff(request))
    unwrap(await scene.service.completeHandoff({ handoff }))
    return { conversation, handoff }
  }
  const [one, two] = [await work(first), await work(second)]
  expect(one.conversation.id).not.toBe(two.conversation.id)
  for (const [store, own, other] of [
    [first, one, two],
    [second, two, one],
  ] as const) {
    expect((await store.conversations.findByExternalKey('job-1'))?.id).toBe(own.conversation.id)
    expect(await store.handoffs.find(own.handoff.id)).toMatchObject({ status: 'completed' })
    expect(await store.handoffs.find(other.handoff.id)).toBeUndefined()
    expect(await store.conversations.find(other.conversation.id)).toBeUndefined()
    expect((await store.audit.list(other.conversation.id, { limit: 10 })).items).toEqual([])
    expect(await schemaSnapshot(store.database)).toBe(EXPECTED)
  }
}

describe('schemas side by side', () => {
  it('see nothing of each other on a server, and nothing is put elsewhere', async () => {
    const connectionString = await emptyDatabase()
    await using plain = await openPostgres({ connectionString, schema: 'tenant_7', autoMigrate: true })
    await using quoted = await openPostgres({ connectionString, schema: 'Tenant "8"', autoMigrate: true })
    await keepApart(plain, quoted)
    const others = `select nspname::text as name from pg_namespace
      where nspname !~ '^pg_' and nspname <> 'information_schema' order by nspname collate "C"`
    expect(await ask(plain.database, others)).toEqual([
      { name: 'Tenant "8"' },
      { name: 'public' },
      { name: 'tenant_7' },
    ])
    const strays = `select 1 from pg_class where relnamespace = 'public'::regnamespace`
    expect(await ask(plain.database, strays)).toEqual([])
  })

  it.skipIf(process.env.TEST_POOLER_URL === undefined)('see nothing of each other behind a pooler', async () => {
    const connectionString = throughPooler(await emptyDatabase()) ?? ''
    const options = { connectionString, autoMigrate: true, pooled: true }
    await using plain = await openPostgres({ ...options, schema: 'tenant_7' })
    await using quoted = await openPostgres({ ...options, schema: 'Tenant "8"' })
    await keepApart(plain, quoted)
  })

  it('may have a name that needs quoting in the embedded store', async () => {
    const loadDataDir = new Blob([readFileSync(process.env.TEST_PGLITE_DUMP ?? '')])
    await using store = await openPglite({ loadDataDir, schema: 'Tenant "8"' })
    await new Migrator({ ...store.database, schema: 'batonpass' }).up()
    const { service } = sceneOn(store)
    unwrap(await service.openConversation({ originalTask: 'Rotate the key' }))
    expect(await schemaSnapshot(store.database)).toBe(EXPECTED)
    const rows = `select (select count(*) from "Tenant ""8""".conversations)::int as own,
      (select count(*) from batonpass.conversations)::int as other`
    expect(await ask(store.database, rows)).toEqual([{ own: 1, other: 0 }])
  })
})

describe('the name of a schema', () => {
  it.each(["it's", 'a;b', 'a$&b', '$1', '--x', '/*', 'é'.repeat(31), 'select'])('may be %s', async (schema) => {
    await using opened = openMigratorAt({ connectionString: await shared, schema })
    await opened.migrator.up()
    expect(await schemaSnapshot(opened.database)).toBe(EXPECTED)
    await using store = await openPostgres({ connectionString: await shared, schema })
    expect((await store.handoffs.list({ reason: "it's 100 % full" }, {})).items).toEqual([])
  })

  it.each(['', 'a\0b', 'a$$b', 'a$sql$b', 'x'.repeat(64), 'é'.repeat(32)])(
    'is refused when it is %j',
    async (schema) => {
      await using opened = openMigratorAt({ connectionString: await shared, schema })
      const refused = { code: 'store.failed', message: expect.stringContaining('No schema can be named') }
      await expect(opened.migrator.up()).rejects.toMatchObject(refused)
      await expect(opened.migrator.check()).rejects.toMatchObject(refused)
      await expect(opened.migrator.sql()).rejects.toMatchObject(refused)
    },
  )

  const shared = emptyDatabase()
})
