import { describe, expect, it } from 'vitest'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { ask } from '../migrations/empty-database.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const UNCOMMENTED = `
  select relname::text as name from pg_class
  where relnamespace = 'batonpass'::regnamespace and relkind in ('r', 'p', 'i', 'I')
    and coalesce(obj_description(oid, 'pg_class'), '') !~ case when relkind in ('i', 'I') then '[?]' else '.' end
  union all
  select proname::text from pg_proc
  where pronamespace = 'batonpass'::regnamespace and obj_description(oid, 'pg_proc') is null
  order by name`

describe('everything in the schema', () => {
  it('says what it is for; an index says which question it answers', async () => {
    const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    await using opened = openMigratorAt({ connectionString })
    expect(await ask(opened.database, UNCOMMENTED)).toEqual([])
    await ask(opened.database, `comment on table batonpass.turns is null`)
    await ask(opened.database, `comment on index batonpass.turns_by_id is 'An index'`)
    await ask(opened.database, `comment on function batonpass.refuse_change is null`)
    await ask(opened.database, `create index planted on batonpass.turns (number)`)
    const seen = ['planted', 'refuse_change', 'turns', 'turns_by_id']
    expect(await ask(opened.database, UNCOMMENTED)).toEqual(seen.map((name) => ({ name })))
  })

  it('has a constraint name that was chosen', async () => {
    const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    await using opened = openMigratorAt({ connectionString })
    // What Postgres itself would call a check, a foreign key or a unique constraint.
    const unnamed = `select conname::text as name from pg_constraint
      where connamespace = 'batonpass'::regnamespace and contype in ('c', 'f', 'u') and conname ~ '_(check|fkey|key)[0-9]*$'`
    expect(await ask(opened.database, unnamed)).toEqual([])
    await ask(opened.database, 'alter table batonpass.turns add check (number > 0)')
    expect(await ask(opened.database, unnamed)).toEqual([{ name: 'turns_number_check' }])
  })
})
