import { readFileSync } from 'node:fs'
import { CompiledQuery } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { schemaDrift } from '../../src/adapters/postgres/health/schema-drift.ts'
import { statementsOf } from '../../src/adapters/postgres/migrate/sql-statements.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import type { Database } from '../../src/adapters/postgres/statements/database.ts'
import { emptyDatabase } from '../migrations/empty-database.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const run = async ({ kysely }: Database, statement: string): Promise<void> => {
  await kysely.executeQuery(CompiledQuery.raw(statement, []))
}

const OPENED = {
  postgres: async () => {
    const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    return openMigratorAt({ connectionString })
  },
  pglite: () => openPglite({ loadDataDir: new Blob([readFileSync(process.env.TEST_PGLITE_DUMP ?? '')]) }),
} as const

/** What somebody did to a schema by hand, and the names under which it must be found. */
const CHANGES: readonly (readonly [string, string, readonly string[]])[] = [
  ['an index', 'drop index batonpass.handoffs_by_id', ['index handoffs_by_id is missing']],
  [
    'an index that is another',
    'drop index batonpass.handoffs_by_id; create index handoffs_by_id on batonpass.handoffs (kind)',
    ['index handoffs_by_id is not as the migrations make it'],
  ],
  ['a unique index', 'drop index batonpass.handoffs_one_open', ['index handoffs_one_open is missing']],
  [
    'a constraint',
    'alter table batonpass.handoffs drop constraint handoffs_kind_known',
    ['constraint handoffs_kind_known of handoffs is missing'],
  ],
  [
    'a constraint that is another',
    `alter table batonpass.handoffs drop constraint handoffs_kind_known, add constraint handoffs_kind_known check (kind <> 'x')`,
    ['constraint handoffs_kind_known of handoffs is not as the migrations make it'],
  ],
  [
    'a constraint that was never validated',
    `alter table batonpass.turns drop constraint turns_session_exists, add constraint turns_session_exists
      foreign key (conversation_id, session_id) references batonpass.agent_sessions (conversation_id, id) not valid`,
    ['constraint turns_session_exists of turns is not as the migrations make it'],
  ],
  [
    'a constraint over several lines',
    'alter table batonpass.agent_sessions drop constraint agent_sessions_ends_with_its_last_message',
    ['constraint agent_sessions_ends_with_its_last_message of agent_sessions is missing'],
  ],
  [
    'a key with everything that points at it',
    'alter table batonpass.agent_sessions drop constraint agent_sessions_pkey cascade',
    [
      'constraint agent_sessions_pkey of agent_sessions is missing',
      'constraint turns_session_exists of turns is missing',
    ],
  ],
  ['a column', 'alter table batonpass.handoffs drop column tracestate', ['column handoffs.tracestate is missing']],
  [
    'a type',
    'alter table batonpass.turns alter number type bigint',
    ['column turns.number is not as the migrations make it'],
  ],
  [
    'a column that may be NULL',
    'alter table batonpass.handoffs alter prior_turn_id drop not null',
    ['column handoffs.prior_turn_id is not as the migrations make it'],
  ],
  [
    'a default',
    'alter table batonpass.conversations alter opened_at set default now()',
    ['column conversations.opened_at is not as the migrations make it'],
  ],
  [
    'a default that is gone',
    'alter table batonpass.session_leases alter processes drop default',
    ['column session_leases.processes is not as the migrations make it'],
  ],
  [
    'a trigger',
    'drop trigger audit_entries_only_grow on batonpass.audit_entries',
    ['trigger audit_entries_only_grow of audit_entries is missing'],
  ],
  [
    'a constraint trigger',
    'drop trigger handoffs_end_as_sessions_say on batonpass.handoffs',
    ['trigger handoffs_end_as_sessions_say of handoffs is missing'],
  ],
  [
    'a trigger that sleeps',
    'alter table batonpass.audit_entries disable trigger audit_entries_only_grow',
    ['trigger audit_entries_only_grow of audit_entries is not as the migrations make it'],
  ],
  [
    'a function',
    'drop function batonpass.commit_unit_v1',
    ['function commit_unit_v1(unit jsonb, streams uuid[], bodies text[], salts text[]) is missing'],
  ],
  [
    'the body of a function',
    `create or replace function batonpass.repeated_command_v1(command uuid) returns jsonb language sql stable as 'select null::jsonb'`,
    ['function repeated_command_v1(command uuid) is not as the migrations make it'],
  ],
  [
    'a function that is open to all',
    'grant execute on function batonpass.renew_lease_v1 to public',
    ['function renew_lease_v1(session uuid, token text, lease_ms integer) is not as the migrations make it'],
  ],
  [
    'a trigger function',
    `create or replace function batonpass.refuse_change() returns trigger language plpgsql as 'begin return new; end'`,
    ['function refuse_change() is not as the migrations make it'],
  ],
  [
    'the rule of a domain',
    'alter domain batonpass.note drop constraint note_is_an_object',
    ['domain note is not as the migrations make it'],
  ],
  ['a table', 'drop table batonpass.context_signals', ['table context_signals is missing']],
  [
    'an index of somebody else',
    'create index planted on batonpass.turns (usage)',
    ['index planted does not belong to Batonpass'],
  ],
  [
    'a function of somebody else',
    `create function batonpass.planted(number integer default 1) returns int language sql as 'select 1'`,
    ['function planted(number integer DEFAULT 1) does not belong to Batonpass'],
  ],
]

describe.each(['postgres', 'pglite'] as const)('the schema on %s', (engine) => {
  const opened = OPENED[engine]()
  afterAll(async () => (await opened)[Symbol.asyncDispose]())

  it('is what the migrations make, as it was made', async () => {
    expect(await schemaDrift((await opened).database)).toEqual([])
  })

  it.each(CHANGES)(
    'that lost or changed %s is named, and is whole again after its statements',
    async (_, change, names) => {
      const { database } = await opened
      for (const statement of statementsOf(change)) await run(database, statement)
      const found = await schemaDrift(database)
      for (const name of names) expect(found.map(({ text }) => text)).toContainEqual(expect.stringContaining(name))
      expect(found.every(({ repair }) => repair !== undefined)).toBe(true)
      for (const { statements = [] } of found) for (const statement of statements) await run(database, statement)
      expect(await schemaDrift(database)).toEqual([])
    },
  )

  it('that has a table of somebody else is warned of, and nobody is told to run what destroys data', async () => {
    const { database } = await opened
    await run(database, 'create table batonpass.planted (id uuid primary key)')
    await run(database, 'alter table batonpass.turns add planted text')
    const found = await schemaDrift(database)
    expect(found.map(({ result, text, statements }) => [result, text.split(' does not ')[0], statements])).toEqual([
      ['warning', 'table planted', undefined],
      ['warning', 'column turns.planted', undefined],
    ])
    await run(database, 'drop table batonpass.planted')
    await run(database, 'alter table batonpass.turns drop planted')
  })

  it('that has functions of another version beside ours is whole', async () => {
    const { database } = await opened
    await run(
      database,
      `create function batonpass.commit_unit_v2(unit jsonb) returns jsonb language sql as 'select unit'`,
    )
    expect(await schemaDrift(database)).toEqual([])
  })
})

it('names another schema in its statements', async () => {
  const schema = 'tenant "7".x'
  await using opened = openMigratorAt({ connectionString: await emptyDatabase(), schema })
  await opened.migrator.up()
  const { database } = opened
  expect(await schemaDrift(database)).toEqual([])
  const name = '"tenant ""7"".x"'
  for (const statement of [
    `drop index ${name}.handoffs_by_id`,
    `drop function ${name}.commit_unit_v1`,
    `alter table ${name}.turns drop constraint turns_session_exists`,
    `create index planted on ${name}.turns (usage)`,
  ])
    await run(database, statement)
  const found = await schemaDrift(database)
  expect(found).toHaveLength(4)
  for (const { statements = [] } of found) for (const statement of statements) await run(database, statement)
  expect(await schemaDrift(database)).toEqual([])
})
