import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import type { Examined } from '../../src/ports/system/health-check.ts'
import { batonWith, type Said } from '../cli/terminal.ts'
import { emptyDatabase } from '../migrations/empty-database.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'
import { folder } from './stage.ts'

/** The servers of tests are fast and forgetful; a database of somebody is not. */
const durable = async (url: string): Promise<string> => {
  await onServer(url, `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = on`)
  return url
}

const database = async (): Promise<string> =>
  durable(withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase()))

const findingsOf = ({ out }: Said): readonly Examined[] =>
  (JSON.parse(out) as { readonly findings: readonly Examined[] }).findings

/** The findings that are not ok. */
const wrong = (said: Said): readonly string[] =>
  findingsOf(said).flatMap(({ result, check, text }) => (result === 'ok' ? [] : [`${result} ${check}: ${text}`]))

describe('baton doctor on a server', () => {
  it('finds nothing wrong with what is as it should be', async () => {
    const said = await batonWith({ BATONPASS_DATABASE_URL: await database(), HOME: folder() })('doctor', '--json')
    expect({ code: said.code, wrong: wrong(said) }).toEqual({ code: 0, wrong: [] })
    const checks = findingsOf(said).map(({ check }) => check)
    for (const check of [
      'node',
      'store chosen',
      'store',
      'pooler',
      'clock',
      'lost commits',
      'schema',
      'schema drift',
      'rights',
    ])
      expect(checks).toContain(check)
  })

  it('warns of a server that can lose what it acknowledged, and says what it cannot see', async () => {
    const url = await database()
    await onServer(url, `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`)
    const said = await batonWith({ BATONPASS_DATABASE_URL: url, HOME: folder() })('doctor', '--json')
    expect([said.code, wrong(said)]).toEqual([
      0,
      [expect.stringMatching(/^warning lost commits: .*synchronous_commit is off/)],
    ])
    const text = findingsOf(said).flatMap((finding) => (finding.check === 'lost commits' ? [finding.text] : []))
    expect(text).toContain('no standby has taken over here, and the server was not restored to a moment')
  })

  it('names a difference of the schema and what repairs it, with status 1, and is content after that', async () => {
    const url = await database()
    const baton = batonWith({ BATONPASS_DATABASE_URL: url, HOME: folder() })
    await onServer(url, 'drop index batonpass.handoffs_by_age')
    const said = await baton('doctor', '--json')
    expect(said.code).toBe(1)
    expect(wrong(said)).toEqual(['problem schema drift: index handoffs_by_age is missing'])
    const shown = await baton('doctor')
    const statement = 'create INDEX handoffs_by_age ON batonpass.handoffs USING btree (initiated_at, id);'
    expect(shown.out).toContain(statement)
    expect(shown.err).toContain('There is 1 problem.')
    await onServer(url, statement)
    expect((await baton('doctor')).code).toBe(0)
  })

  it('says what is pending, and what a newer program has made', async () => {
    const url = await durable(await emptyDatabase())
    const baton = batonWith({ BATONPASS_DATABASE_URL: url, HOME: folder() })
    const [pending] = findingsOf(await baton('doctor', '--json')).filter(({ check }) => check === 'schema')
    expect(pending).toMatchObject({
      result: 'problem',
      repair: 'Run "baton migrate up".',
    })
    await baton('migrate', 'up')
    await onServer(url, `insert into batonpass.migrations (name, applied_at) values ('9999_later', now())`)
    expect(wrong(await baton('doctor', '--json'))).toEqual([
      'problem schema: the schema "batonpass" has 9999_later, which this program does not know',
    ])
  })

  it('names the grants that a role lacks', async () => {
    const url = await database()
    const role = `batonpass_role_${Math.floor(Math.random() * 2 ** 40).toString(36)}`
    await onServer(url, `create role ${role} login password 'hunter22'`)
    const as = new URL(url)
    as.username = role
    as.password = 'hunter22'
    try {
      const baton = batonWith({ BATONPASS_DATABASE_URL: as.href, HOME: folder() })
      await onServer(url, `grant usage on schema batonpass to ${role}`)
      const said = await baton('doctor', '--json')
      const lacking = findingsOf(said).find(({ check }) => check === 'rights')
      expect(lacking).toMatchObject({ result: 'problem' })
      expect(said.out + said.err).not.toContain('hunter22')
      for (const statement of lacking?.statements ?? []) await onServer(url, statement)
      expect(wrong(await baton('doctor', '--json'))).toEqual([])
    } finally {
      await onServer(url, `drop owned by ${role}`)
      await onServer(url, `drop role ${role}`)
    }
  })

  it.runIf(process.env.TEST_POOLER_URL !== undefined)('sees a pooler, and whether it was told of it', async () => {
    const { pathname } = new URL(await database())
    const url = withDatabase(process.env.TEST_POOLER_URL ?? '', pathname.slice(1))
    const baton = batonWith({ BATONPASS_DATABASE_URL: url, HOME: folder() })
    const [untold, told] = [await baton('doctor', '--json'), await baton('doctor', '--json', '--pooled')]
    expect(wrong(untold)).toEqual([expect.stringContaining('problem pooler: a pooler such as PgBouncer')])
    expect({ code: told.code, wrong: wrong(told) }).toEqual({ code: 0, wrong: [] })
    // With the flag that it names, the other commands work through the pooler too.
    expect((await baton('status', '--pooled')).code).toBe(0)
  })

  it('says that nobody answers, without the password', async () => {
    const baton = batonWith({ BATONPASS_DATABASE_URL: 'postgres://ada:hunter22@127.0.0.1:1/none', HOME: folder() })
    const said = await baton('doctor', '--json')
    expect(said.code).toBe(1)
    expect(wrong(said)).toEqual([expect.stringMatching(/^problem store: it does not open: .*\(store\.unavailable\)$/)])
    expect(said.out + said.err).not.toContain('hunter22')
  })

  it.each([
    [
      'two variables that name two servers',
      { BATONPASS_DATABASE_URL: 'postgres://a@b/c', BATONPASS_DATABASE_URL_FILE: '/nowhere' },
    ],
    ['an address of something else', { BATONPASS_DATABASE_URL: 'mysql://ada:hunter22@db/x' }],
    ['a file that is not there', { BATONPASS_DATABASE_URL_FILE: '/nowhere/at/all' }],
    ['an empty variable', { BATONPASS_DATABASE_URL: ' ' }],
  ])('looks at the rest when the store is %s', async (_, environment) => {
    const said = await batonWith({ ...environment, HOME: folder() })('doctor', '--json')
    expect(said.code).toBe(1)
    expect(wrong(said)).toEqual([expect.stringMatching(/^problem store chosen: /)])
    expect(findingsOf(said).map(({ check }) => check)).toContain('service')
    expect(said.out + said.err).not.toContain('hunter22')
  })
})

describe('baton doctor on an embedded store', () => {
  const dump = (): Blob => new Blob([readFileSync(process.env.TEST_PGLITE_DUMP ?? '')])

  it('names a difference and what repairs it, and is content after that', async () => {
    const dataDir = join(folder(), 'store')
    const baton = batonWith({ HOME: folder() })
    {
      await using store = await openPglite({ dataDir, loadDataDir: dump() })
      await store.database.kysely.schema.dropIndex('handoffs_by_age').execute()
    }
    const said = await baton('doctor', '--data-dir', dataDir, '--json')
    expect(wrong(said)).toEqual(['problem schema drift: index handoffs_by_age is missing'])
    // The process that has it open is named, and lets the doctor look at it.
    {
      await using store = await openPglite({ dataDir })
      const held = await baton('doctor', '--data-dir', dataDir, '--json')
      expect({ code: held.code, wrong: wrong(held) }).toEqual({ code: 1, wrong: wrong(said) })
      expect(findingsOf(held).find(({ check }) => check === 'lock')?.text).toContain(`held by process ${process.pid}`)
      const statement = findingsOf(said).flatMap(({ statements = [] }) => statements)[0] ?? ''
      await store.database.kysely.executeQuery({ sql: statement, parameters: [] } as never)
    }
    const after = await baton('doctor', '--data-dir', dataDir, '--json')
    expect({ code: after.code, wrong: wrong(after) }).toEqual({ code: 0, wrong: [] })
  })

  it('finds nothing wrong where there is no store yet, and makes none', async () => {
    const dataDir = join(folder(), 'store')
    const said = await batonWith({ HOME: folder() })('doctor', '--data-dir', dataDir, '--json')
    expect({ code: said.code, wrong: wrong(said) }).toEqual({ code: 0, wrong: [] })
    expect(findingsOf(said).find(({ check }) => check === 'store')?.text).toContain('there is none yet')
    expect(existsSync(dataDir)).toBe(false)
  })

  it('survives garbage in every file that it looks at', async () => {
    const [place, house] = [folder(), folder()]
    mkdirSync(join(place, 'data'))
    mkdirSync(join(place, 'spool', 'rejected'), { recursive: true })
    mkdirSync(join(place, 'sessions'))
    mkdirSync(join(house, '.claude', 'settings.json'), { recursive: true })
    mkdirSync(join(house, '.codex'))
    const garbage = '\u0000{"pid": -1e99, [\u001b[2J '
    for (const file of [
      'lock',
      'service.json',
      'service.token',
      'hook.log',
      'data/PG_VERSION',
      'sessions/a.json',
      'spool/b.json',
    ])
      writeFileSync(join(place, file), garbage, { mode: 0o600 })
    for (const file of ['hooks.json', 'config.toml']) writeFileSync(join(house, '.codex', file), garbage)
    const said = await batonWith({ HOME: house })('doctor', '--data-dir', place)
    expect(said.code).toBe(1)
    for (const check of ['lock', 'store', 'claude hooks', 'codex hooks', 'service', 'hooks firing', 'spool'])
      expect(said.out).toMatch(new RegExp(`^(ok|warning|problem) +${check}: `, 'm'))
    expect(said.out).not.toContain('could not be looked at')
  })
})

it.each([80, 200])('fits %i columns, but for statements that are to be copied', async (columns) => {
  const url = await database()
  await onServer(url, 'alter table batonpass.handoffs drop constraint handoffs_kind_known')
  const { out } = await batonWith({ BATONPASS_DATABASE_URL: url, HOME: folder() }, columns)('doctor')
  for (const line of out.split('\n'))
    if (!line.includes('alter table')) expect(line.length).toBeLessThanOrEqual(columns)
  expect(out).toContain('alter table batonpass.handoffs add constraint handoffs_kind_known CHECK')
})
