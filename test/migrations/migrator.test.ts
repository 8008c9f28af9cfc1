import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { Migrator } from '../../src/adapters/postgres/migrate/migrator.ts'
import { offlineSql } from '../../src/adapters/postgres/migrate/offline-sql.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { onServer } from '../support/test-databases.ts'
import { ask, ENGINES, emptyDatabase, expectedSnapshot, openEmpty } from './empty-database.ts'

const EXPECTED = await expectedSnapshot()
const NEWER = '9999_from_the_future'

describe.each(ENGINES)('migrations on %s', (engine) => {
  const opening = openEmpty(engine)
  afterAll(async () => (await opening)[Symbol.asyncDispose]())

  it('fill an empty database, once, all the way down and up again', async () => {
    const { migrator, database } = await opening
    const before = await migrator.status()
    expect(before.length).toBeGreaterThanOrEqual(6)
    expect(before.filter(({ state }) => state !== 'pending')).toEqual([])
    expect(await ask(database, `select 1 from pg_namespace where nspname = 'batonpass'`)).toEqual([])
    const names = before.map(({ name }) => name)
    expect(await migrator.up()).toEqual(names)
    const applied = await migrator.status()
    expect(applied.map(({ name, state }) => [name, state])).toEqual(names.map((name) => [name, 'applied']))
    expect(applied.every(({ appliedAt }) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(appliedAt ?? ''))).toBe(true)
    expect(await schemaSnapshot(database)).toBe(EXPECTED)
    expect(await migrator.up()).toEqual([])
    expect(await migrator.status()).toEqual(applied)

    expect(await migrator.down()).toEqual(names.slice(-1))
    expect(await migrator.down(2)).toEqual(names.slice(-3, -1).reverse())
    expect(await migrator.down(Number.POSITIVE_INFINITY)).toEqual(names.slice(0, -3).reverse())
    expect(await migrator.down()).toEqual([])
    const left = `select relname::text as name from pg_class where relnamespace = 'batonpass'::regnamespace
      union all select proname::text from pg_proc where pronamespace = 'batonpass'::regnamespace order by name`
    expect(await ask(database, left)).toEqual([{ name: 'migrations' }, { name: 'migrations_pkey' }])

    expect(await migrator.up()).toEqual(names)
    expect(await schemaSnapshot(database)).toBe(EXPECTED)
  })

  it('are refused by a program older than the schema', async () => {
    const { migrator, database } = await opening
    await migrator.up()
    await ask(database, `insert into batonpass.migrations values ($1, clock_timestamp())`, NEWER)
    const refused = { code: 'store.newer_schema', message: expect.stringContaining(NEWER) }
    await expect(migrator.up()).rejects.toMatchObject(refused)
    await expect(migrator.check()).rejects.toMatchObject(refused)
    await expect(migrator.down()).rejects.toMatchObject(refused)
    expect((await migrator.status()).at(-1)).toMatchObject({ name: NEWER, state: 'unknown' })
    expect(await schemaSnapshot(database)).toBe(EXPECTED)
  })
})

describe('migrations on a server', () => {
  it.each([0, -1, 1.5, Number.NaN])('undo no %d changes', async (count) => {
    await using opened = openMigratorAt({ connectionString: 'postgres://nobody@127.0.0.1:1/none' })
    await expect(opened.migrator.down(count)).rejects.toBeInstanceOf(RangeError)
  })

  it('leave nothing of a change that breaks half-way', async () => {
    await using opened = await openEmpty('postgres')
    const { migrator, database } = opened
    const names = await migrator.up()
    const undone = await migrator.down(names.length - names.indexOf('0003_log'))
    const before = await schemaSnapshot(database)
    // 0004 makes tables; the last of them is in the way, when 0003 is done already.
    await ask(database, `create table batonpass.session_leases (id uuid)`)
    await expect(migrator.up()).rejects.toMatchObject({
      code: 'store.failed',
      message: expect.stringContaining('0004_windows failed'),
      cause: { code: '42P07' },
    })
    await ask(database, `drop table batonpass.session_leases`)
    expect(await schemaSnapshot(database)).toBe(before)
    expect(await migrator.up()).toEqual(undone.toReversed())
  })

  it('are looked for when a store is opened, and the failure says what to do', async () => {
    const connectionString = await emptyDatabase()
    const unmigrated = {
      code: 'store.not_migrated',
      retryable: false,
      message: /0001_record.*functions_v1.*"baton migrate up"/,
    }
    const message = expect.stringMatching(unmigrated.message)
    await expect(openPostgres({ connectionString })).rejects.toMatchObject({ ...unmigrated, message })
    await expect(openPostgres({ connectionString, schema: 'Tenant "8"' })).rejects.toThrow(
      `Run "baton migrate up --schema 'Tenant "8"'"`,
    )
    await using migrated = await openPostgres({ connectionString, autoMigrate: true })
    await new Migrator(migrated.database).down()
    await expect(openPostgres({ connectionString })).rejects.toMatchObject({ code: 'store.not_migrated' })
    await new Migrator(migrated.database).up()
    await ask(migrated.database, `insert into batonpass.migrations values ($1, clock_timestamp())`, NEWER)
    await expect(openPostgres({ connectionString })).rejects.toMatchObject({ code: 'store.newer_schema' })
    await expect(openPostgres({ connectionString, autoMigrate: true })).rejects.toMatchObject({
      code: 'store.newer_schema',
    })
  })

  it('may be run by hand, to the same end', async () => {
    const connectionString = await emptyDatabase()
    const client = new pg.Client({ connectionString })
    await client.connect()
    await client.query(await offlineSql('batonpass'))
    await client.query(await offlineSql(`it's; "8"`))
    await client.end()
    for (const schema of ['batonpass', `it's; "8"`]) {
      await using opened = openMigratorAt({ connectionString, schema })
      expect(await schemaSnapshot(opened.database)).toBe(EXPECTED)
      expect(await opened.migrator.up()).toEqual([])
      await using store = await openPostgres({ connectionString, schema })
      expect((await new Migrator(store.database).status()).every(({ state }) => state === 'applied')).toBe(true)
    }
  })

  it('need no more rights than the schema asks for', async () => {
    const connectionString = await emptyDatabase()
    const role = `batonpass_role_${Math.floor(Math.random() * 2 ** 40).toString(36)}`
    const as = new URL(connectionString)
    as.username = role
    as.password = 'test'
    await onServer(connectionString, `create role ${role} login password 'test'`)
    try {
      // Made by somebody else, for a role that may make no schemas of its own.
      await onServer(connectionString, `create schema batonpass authorization ${role}`)
      await using opened = openMigratorAt({ connectionString: as.href })
      expect((await opened.migrator.up()).length).toBeGreaterThan(0)
      // Made by somebody else altogether: looking is enough where nothing is pending.
      await onServer(connectionString, `alter schema batonpass owner to current_user`)
      await onServer(connectionString, `grant usage on schema batonpass to ${role}`)
      expect(await opened.migrator.up()).toEqual([])
    } finally {
      await onServer(connectionString, `reassign owned by ${role} to current_user`)
      await onServer(connectionString, `drop owned by ${role}`)
      await onServer(connectionString, `drop role ${role}`)
    }
  })

  it('wait for each other longer than a statement may take', async () => {
    const connectionString = await emptyDatabase()
    await onServer(
      connectionString,
      `alter database ${new URL(connectionString).pathname.slice(1)} set statement_timeout = 200`,
    )
    const client = new pg.Client({ connectionString })
    await client.connect()
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(hashtextextended('batonpass migrations batonpass', 0))`)
    await using opened = openMigratorAt({ connectionString })
    const applying = opened.migrator.up()
    await new Promise((resolve) => setTimeout(resolve, 600))
    await client.query('commit')
    await client.end()
    expect((await applying).length).toBeGreaterThan(0)
  })
})
