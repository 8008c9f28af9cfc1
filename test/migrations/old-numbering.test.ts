import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { ExaminedStore } from '../../src/adapters/postgres/health/examined-store.ts'
import { schemaStanding } from '../../src/adapters/postgres/health/schema-checks.ts'
import { statementsOf } from '../../src/adapters/postgres/migrate/sql-statements.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { ask, ENGINES, emptyDatabase, openEmpty } from './empty-database.ts'

/** The whole schema as it was numbered before the first release. */
const OLD = statementsOf(readFileSync('test/fixtures/old-numbering.sql', 'utf8'))

const refused = {
  code: 'store.old_numbering',
  retryable: false,
  message: expect.stringMatching(
    /made before the first release.*another schema, database or folder.*"baton migrate up"/,
  ),
}

describe.each(ENGINES)('a store with the old numbering on %s', (engine) => {
  it('is refused with what to do, and left as it is', async () => {
    await using opened = await openEmpty(engine)
    const { migrator, database } = opened
    for (const statement of OLD) await ask(database, statement)
    const before = await schemaSnapshot(database)
    await expect(migrator.up()).rejects.toMatchObject(refused)
    await expect(migrator.check()).rejects.toMatchObject(refused)
    await expect(migrator.down()).rejects.toMatchObject(refused)
    const status = await migrator.status()
    expect(status.map(({ state }) => state)).toEqual(Array.from({ length: 15 }, () => 'unknown'))
    expect(await schemaSnapshot(database)).toBe(before)
    await ask(database, 'drop schema batonpass cascade')
    expect(await migrator.up()).toContain('0001_record')
  })
})

describe('a store with the old numbering on a server', () => {
  it('is refused by a program and by the command', async () => {
    const connectionString = await emptyDatabase()
    await using opened = await openEmpty('postgres')
    for (const statement of OLD) await ask(opened.database, statement)
    const { rows } = { rows: await ask<{ name: string }>(opened.database, 'select current_database()::text as name') }
    const old = new URL(connectionString)
    old.pathname = `/${rows[0]?.name}`
    await expect(openPostgres({ connectionString: old.href })).rejects.toMatchObject(refused)
    await expect(openPostgres({ connectionString: old.href, autoMigrate: true })).rejects.toMatchObject(refused)
    for (const command of ['up', 'status']) {
      const err: string[] = []
      const status = await runCli(['migrate', command, '--database', old.href], {
        out: { line: () => {} },
        err: { line: (text) => void err.push(text) },
        version: 'test',
        environment: {},
      })
      expect([status, err.join(' ')], command).toEqual([
        1,
        expect.stringMatching(/before the first release.*store\.old_numbering/),
      ])
    }
    await using examined = new ExaminedStore({ connectionString: old.href })
    examined.isOpen = true
    expect(await schemaStanding(examined)).toEqual([
      {
        result: 'problem',
        text: expect.stringContaining('made before the first release, 0.1'),
        repair: expect.stringContaining('another schema, database or folder'),
      },
    ])
  })
})
