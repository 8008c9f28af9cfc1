import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { FUNCTIONS_VERSION } from '../../src/adapters/postgres/statements/database.ts'
import { ask, ENGINES, expectedSnapshot, openEmpty } from './empty-database.ts'

const FUNCTIONS = `functions_v${FUNCTIONS_VERSION}`
const FILES = readdirSync('migrations/functions').map((file) => readFileSync(`migrations/functions/${file}`, 'utf8'))
const DEFINED = FILES.flatMap((text) =>
  [...text.matchAll(/^create or replace function batonpass\.(\w+)\(/gm)].map(([, name]) => name ?? ''),
)

describe('the files of functions', () => {
  it('can be applied again: they replace, and every name ends in the version', () => {
    for (const text of FILES) expect(text).not.toMatch(/^create (?!or replace function)/m)
    expect(DEFINED.filter((name) => !name.endsWith(`_v${FUNCTIONS_VERSION}`))).toEqual([])
    expect(new Set(DEFINED).size).toBe(DEFINED.length)
  })

  it('call no function of another version', () => {
    const called = FILES.flatMap((text) => [...text.matchAll(/batonpass\.(\w+_v\d+)/g)].map(([, name]) => name ?? ''))
    expect(called.filter((name) => !DEFINED.includes(name))).toEqual([])
  })
})

describe('a program', () => {
  it('calls functions of its own version only', () => {
    const folder = 'src/adapters/postgres'
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const sources = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    const named = sources.flatMap((text) =>
      [...text.matchAll(/\bqualified\(database, '(\w+)'\)/g)].map(([, name]) => name),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => DEFINED.includes(`${name}_v${FUNCTIONS_VERSION}`))).toEqual([])
  })
})

describe.each(ENGINES)('functions on %s', (engine) => {
  it('are applied again when they are not what the files say', async () => {
    await using opened = await openEmpty(engine)
    const { migrator, database } = opened
    await migrator.up()
    await ask(
      database,
      `create or replace function batonpass.repeated_command_v1(command uuid) returns jsonb language sql stable as 'select null::jsonb'`,
    )
    await ask(database, `update batonpass.migrations set digest = 'of another text' where name = $1`, FUNCTIONS)
    expect((await migrator.status()).at(-1)).toEqual({ name: FUNCTIONS, state: 'pending' })
    await expect(migrator.check()).rejects.toMatchObject({ code: 'store.not_migrated' })
    expect(await migrator.up()).toEqual([FUNCTIONS])
    expect(await schemaSnapshot(database)).toBe(await expectedSnapshot())
    expect(await migrator.up()).toEqual([])
  })

  it('stand beside those of another version, and neither program minds the other', async () => {
    await using opened = await openEmpty(engine)
    const { migrator, database } = opened
    await migrator.up()
    await ask(database, `create function batonpass.commit_unit_v2() returns jsonb language sql as 'select null::jsonb'`)
    await ask(database, `insert into batonpass.migrations values ('functions_v2', clock_timestamp(), 'theirs')`)
    await migrator.check()
    expect(await migrator.up()).toEqual([])
    expect((await migrator.status()).at(-1)).toMatchObject({ name: 'functions_v2', state: 'unknown' })
    expect(await migrator.down()).toEqual([FUNCTIONS])
    const left = await ask(
      database,
      `select proname::text as name from pg_proc where proname like '%\\_v_' and pronamespace = 'batonpass'::regnamespace`,
    )
    expect(left).toEqual([{ name: 'commit_unit_v2' }])
    expect(await migrator.up()).toEqual([FUNCTIONS])
  })
})
