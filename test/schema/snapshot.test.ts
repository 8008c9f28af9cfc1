import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { SNAPSHOT, schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { ask } from '../migrations/empty-database.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const WRITTEN = readFileSync(SNAPSHOT, 'utf8')

const clone = async () => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  return openMigratorAt({ connectionString })
}

describe('the written schema: otherwise run npm run schema', () => {
  it('is the one of Postgres', async () => {
    await using opened = await clone()
    expect(await schemaSnapshot(opened.database)).toBe(WRITTEN)
  })

  it('is the one of PGlite', async () => {
    await using store = await openPglite({ loadDataDir: new Blob([readFileSync(process.env.TEST_PGLITE_DUMP ?? '')]) })
    expect(await schemaSnapshot(store.database)).toBe(WRITTEN)
  })
})

describe('a difference', () => {
  const opened = clone()
  afterAll(async () => (await opened)[Symbol.asyncDispose]())

  it.each([
    ['a table', 'create table batonpass.planted (id uuid)'],
    ['a column', 'alter table batonpass.turns add planted text'],
    ['a type', 'alter table batonpass.turns alter number type bigint'],
    ['a column that may be NULL', 'alter table batonpass.handoffs alter prior_turn_id drop not null'],
    ['a default', 'alter table batonpass.conversations alter opened_at set default now()'],
    ['a constraint', 'alter table batonpass.handoffs drop constraint handoffs_kind_known'],
    ['an index', 'drop index batonpass.handoffs_by_id'],
    ['a comment on a table', `comment on table batonpass.turns is 'Something else'`],
    ['a comment on a column', `comment on column batonpass.turns.number is 'Something else'`],
    ['a comment on an index', 'comment on index batonpass.turns_by_id is null'],
    [
      'the body of a function',
      `create or replace function batonpass.repeated_command_v1(command uuid) returns jsonb language sql stable as 'select null::jsonb'`,
    ],
    ['a function', `create function batonpass.planted() returns int language sql as 'select 1'`],
    ['a trigger', 'drop trigger audit_entries_only_grow on batonpass.audit_entries'],
    ['a trigger that sleeps', 'alter table batonpass.audit_entries disable trigger audit_entries_only_grow'],
    ['a view', 'create view batonpass.planted as select 1 as one'],
  ])('is seen when it is %s', async (_, change) => {
    const { database } = await opened
    const seen = await database.kysely.transaction().execute(async (kysely) => {
      const before = await schemaSnapshot({ kysely, schema: 'batonpass' })
      await ask({ kysely, schema: 'batonpass' }, 'savepoint planted')
      await ask({ kysely, schema: 'batonpass' }, change)
      const after = await schemaSnapshot({ kysely, schema: 'batonpass' })
      await ask({ kysely, schema: 'batonpass' }, 'rollback to planted')
      return before !== after
    })
    expect(seen).toBe(true)
  })
})
