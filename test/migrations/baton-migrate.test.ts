import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'

import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { withoutStore } from '../cli/terminal.ts'
import { onServer } from '../support/test-databases.ts'
import { emptyDatabase, expectedSnapshot, throughPooler } from './empty-database.ts'

const EXPECTED = await expectedSnapshot()

const baton = async (...argv: readonly string[]) => {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCli(['migrate', ...argv], {
    out: { line: (text) => void out.push(text) },
    err: { line: (text) => void err.push(text) },
    version: 'test',
    environment: {},
  })
  return { status, out: out.join('\n'), err: withoutStore(err.join('\n')) }
}

const TABLES = readdirSync('migrations')
  .filter((file) => file.endsWith('.down.sql'))
  .map((file) => file.replace('.down.sql', ''))
  .toSorted()
const NAMES = [...TABLES, 'functions_v1']
const [LAST = '', LAST_BUT_ONE = '', LAST_BUT_TWO = ''] = NAMES.toReversed()

const done = (out: unknown) => ({ status: 0, out, err: '' })

describe('baton migrate', () => {
  it('shows, applies and undoes changes on a server', async () => {
    const database = await emptyDatabase()
    const to = ['--database', database] as const
    expect(await baton('status', ...to)).toEqual({
      status: 8,
      out: expect.stringMatching(/^0001_record +pending\n0002_/),
      err: `baton: The schema "batonpass" lacks ${NAMES.length} changes. Run "baton migrate up --database ${database}".`,
    })
    expect(await baton('up', ...to)).toEqual(done(expect.stringMatching(/^applied 0001_record\napplied 0002_/)))
    expect(await baton('up', ...to)).toEqual(done('The schema "batonpass" is up to date.'))
    expect(await baton('status', ...to)).toEqual(done(expect.stringMatching(/^0001_record +applied {2}20.+Z\n/)))
    expect(await baton('down', '2', '--yes', ...to)).toEqual(done(`undone ${LAST}\nundone ${LAST_BUT_ONE}`))
    expect(await baton('down', '--yes', ...to)).toEqual(done(`undone ${LAST_BUT_TWO}`))
    expect(await baton('down', 'all', '--yes', ...to)).toEqual(done(expect.stringMatching(/undone 0001_record$/)))
    expect(await baton('down', '--yes', ...to)).toEqual(done('The schema "batonpass" has nothing to undo.'))
  })

  it('answers machines', async () => {
    const to = ['--database', await emptyDatabase(), '--schema', 'tenant_7', '--json'] as const
    const json = async (...argv: readonly string[]): Promise<unknown> => JSON.parse((await baton(...argv)).out)
    expect(await json('up', ...to)).toEqual({
      schema: 'tenant_7',
      applied: expect.arrayContaining(['0001_record']),
    })
    expect(await json('up', ...to)).toEqual({ schema: 'tenant_7', applied: [] })
    expect(await json('status', ...to)).toMatchObject({
      schema: 'tenant_7',
      migrations: expect.arrayContaining([
        { name: '0001_record', state: 'applied', appliedAt: expect.stringMatching(/Z$/) },
      ]),
    })
    expect(await json('down', '--yes', ...to)).toEqual({ schema: 'tenant_7', undone: [expect.any(String)] })
  })

  it('asks for a yes before it destroys data', async () => {
    const database = await emptyDatabase()
    await baton('up', '--database', database)
    const { status, err, out } = await baton('down', '--database', database)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain('Undoing a change destroys the data in it. Make a backup, then add --yes.')
    expect((await baton('up', '--database', database)).out).toContain('up to date')
  })

  it.each([
    ['down 0', ['down', '0', '--yes'], 'not "0"'],
    ['down all of it', ['down', 'most', '--yes'], 'not "most"'],
    ['down twice', ['down', '1', '2', '--yes'], '"2" is one word too many'],
    ['up to somewhere', ['up', '0003'], '"0003" is one word too many'],
    ['sideways', ['sideways'], 'There is no command "migrate sideways"'],
  ])('does not go %s', async (_, argv, problem) => {
    const { status, err } = await baton(...argv)
    expect(status).toBe(2)
    expect(err).toContain(problem)
  })

  it('prints the whole schema without a database, and makes none', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'batonpass-sql-')), 'none')
    const { status, out } = await baton('sql', '--schema', 'tenant_7', '--data-dir', folder)
    expect(status).toBe(0)
    expect(out).toMatch(/^begin;\n[\s\S]*create table "tenant_7"\.handoffs[\s\S]*\ncommit;$/)
    expect(existsSync(folder)).toBe(false)
    const url = await emptyDatabase()
    await onServer(url, out)
    await using opened = openMigratorAt({ connectionString: url, schema: 'tenant_7' })
    expect(await schemaSnapshot(opened.database)).toBe(EXPECTED)
  })

  it('prints the changes after a version, for a database that has the others', async () => {
    const url = await emptyDatabase()
    const from = NAMES[2] ?? ''
    await baton('up', '--database', url)
    await baton('down', String(NAMES.length - 3), '--yes', '--database', url)
    const { status, out } = await baton('sql', '--from', from)
    expect(status).toBe(0)
    expect(out).not.toContain(`-- ${from}\n`)
    expect((await baton('sql', '--from', '3')).out).toBe(out)
    await onServer(url, out)
    expect((await baton('status', '--database', url)).status).toBe(0)
    await using opened = openMigratorAt({ connectionString: url })
    expect(await schemaSnapshot(opened.database)).toBe(EXPECTED)
    const wrong = await baton('sql', '--from', '4711')
    expect(wrong.status).toBe(2)
    expect(wrong.err).toContain(
      `--from: there is no change "4711". Name one, or give its number; the newest is ${LAST}.`,
    )
  })

  it('refuses a schema newer than itself, and says so in status', async () => {
    const database = await emptyDatabase()
    await baton('up', '--database', database)
    await onServer(database, `insert into batonpass.migrations values ('9999_from_the_future', clock_timestamp())`)
    for (const argv of [['up'], ['down', '--yes']]) {
      const { status, err } = await baton(...argv, '--database', database)
      expect(status).toBe(1)
      expect(err).toMatch(/9999_from_the_future.*store\.newer_schema/)
    }
    expect(await baton('status', '--database', database)).toEqual(
      done(expect.stringMatching(/\n9999_from_the_future +unknown {2}20.+Z$/)),
    )
  })

  it('says what broke when there is no server', async () => {
    const { status, err } = await baton('status', '--database', 'postgres://nobody:secret@127.0.0.1:1/none')
    expect(status).toBe(1)
    expect(err).toMatch(/^baton: .*ECONNREFUSED.*\(store\.unavailable\)$/)
    expect(err).not.toContain('secret')
  })

  it.skipIf(process.env.TEST_POOLER_URL === undefined)('works through a pooler', async () => {
    const url = await emptyDatabase()
    expect(await baton('up', '--database', throughPooler(url) ?? '')).toMatchObject({ status: 0 })
    expect((await baton('status', '--database', url)).out).not.toContain('pending')
  })

  it('works on the embedded store, also while another has it, and not beside one that does not share', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'batonpass-migrate-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    const to = ['--data-dir', join(folder, 'store')] as const
    expect((await baton('up', ...to)).out).toContain('applied 0001_record')
    {
      await using held = openMigratorAt({ dataDir: join(folder, 'store') })
      expect((await held.migrator.status()).at(-1)).toMatchObject({ name: LAST, state: 'applied' })
      const { status, out } = await baton('status', ...to)
      expect(status).toBe(0)
      expect(out).toContain(LAST)
      expect(out).not.toContain('pending')
    }
    await using alone = openMigratorAt({ dataDir: join(folder, 'store'), share: false })
    await alone.migrator.status()
    const { status, err } = await baton('status', ...to)
    expect(status).toBe(1)
    expect(err).toContain('store.locked')
  })
})
