import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/adapters/cli/tree/index.ts'
import { makeStore } from '../embedded/made-store.ts'
import { batonWith, historyInDatabase, type Said } from './terminal.ts'

const ID = '0190a0a0-0000-7000-8000-000000000001'

/** A command line of every command that reads a store and makes none. */
const READING: Readonly<Record<string, readonly string[]>> = {
  recover: ['--fail'],
  prune: [],
  'migrate down': ['--yes'],
  'migrate status': [],
  'audit trail': [ID],
  'audit verify': ['--all'],
  'audit query': [],
  'conversations list': [],
  'conversations show': [ID],
  'sessions list': [],
  'sessions show': [ID],
  'sessions window': [ID],
  'handoffs list': [],
  'handoffs show': [ID],
  'thread handoff': ['--preview', '--from', ID],
  'thread status': [],
  'thread cleanup': [],
  'thread history': [],
  'look-back': [ID, '--words', 'flaky'],
  lineage: [ID],
  report: [],
  messages: [ID],
  turns: [ID],
}

/** Hooks speak to the service, and open no store themselves. */
const HOOKS = Object.keys(COMMANDS).filter((name) => name.startsWith('hook '))

/** These change the settings of agents, and know no store. */
const INSTALLING = Object.keys(COMMANDS).filter((name) => /^(?:claude|codex) /.test(name))

/** These write, and begin a store where there is none; or need none; or say that there is none, which is no failure. */
const OTHERS = [
  ...['demo', 'run', 'work', 'serve', 'migrate up', 'migrate sql', 'config check', 'replay', 'completion'],
  ...['status', 'doctor', 'mcp', 'handoff', 'thread setup', ...HOOKS, ...INSTALLING],
]

const reading = Object.entries(READING).map(([name, args]) => [name, [...name.split(' '), ...args]] as const)

const folder = mkdtempSync(join(tmpdir(), 'batonpass-which-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const without = batonWith({ HOME: join(folder, 'home') })
const batonOn = (database: string) => batonWith({ DATABASE_URL: database })

it('every command is known here: as one that reads, or as another', () => {
  expect([...Object.keys(READING), ...OTHERS].sort()).toEqual(Object.keys(COMMANDS).sort())
})

describe.each(reading)('baton %s', (_, args) => {
  it('where there is no store says so, with a status of its own, and makes none', async () => {
    const dataDir = join(folder, 'nowhere')
    for (const shape of [[], ['--json']]) {
      const { code, out, err } = await without(...args, ...shape, '--data-dir', dataDir)
      expect({ code, out }).toEqual({ code: 7, out: '' })
      expect(err).toContain(`There is no embedded store in ${dataDir}`)
      expect(err).toContain('DATABASE_URL')
      expect(err).toContain('--data-dir')
      expect(existsSync(dataDir)).toBe(false)
    }
  })

  it('with nothing named looks in .batonpass/ of the working directory, and makes none', async () => {
    const [cwd, before] = [join(folder, 'project'), process.cwd()]
    mkdirSync(cwd, { recursive: true })
    process.chdir(cwd)
    const { code, err } = await without(...args).finally(() => process.chdir(before))
    expect(code).toBe(7)
    expect(err).toContain(join(cwd, '.batonpass'))
    expect(readdirSync(cwd)).toEqual([])
  })

  it.each([
    ['DATABASE_URL', { DATABASE_URL: '' }, []],
    ['DATABASE_URL', { DATABASE_URL: '  ' }, []],
    ['--database', {}, ['--database', '']],
    ['--database', { DATABASE_URL: 'postgres://127.0.0.1:1/none' }, ['--database', ' ']],
    ['--data-dir', {}, ['--data-dir', '']],
  ] as const)('refuses an empty %s', async (name, environment, flags) => {
    const { code, err } = await batonWith(environment)(...args, ...flags)
    expect(code).toBe(2)
    expect(err).toContain(`${name} is empty`)
  })
})

it('a folder that is named is used, however empty DATABASE_URL is', async () => {
  const { code } = await batonWith({ DATABASE_URL: '' })('conversations', 'list', '--data-dir', join(folder, 'nowhere'))
  expect(code).toBe(7)
})

describe('a store that is there', () => {
  const dataDir = join(folder, 'store')
  let there: Awaited<ReturnType<typeof historyInDatabase>>
  beforeAll(async () => {
    await makeStore(dataDir)
    there = await historyInDatabase()
  })

  const namesStore = ({ out, err }: Said, store: string): void => {
    expect(err.split('\n')[0]).toBe(`Store: ${store}`)
    expect(out).not.toContain('Store:')
  }

  it.each(reading.filter(([name]) => name !== 'migrate down'))('%s names the folder it read', async (_, args) => {
    namesStore(await without(...args, '--data-dir', dataDir), `embedded, in ${dataDir}`)
  })

  it.each(reading.filter(([name]) => name !== 'migrate down'))('%s names the server it read', async (_, args) => {
    const url = new URL(there.database)
    url.password = 'hunter2-swordfish'
    const said = await batonOn(url.href)(...args)
    expect(said.out + said.err).not.toContain('hunter2')
    url.password = '***'
    namesStore(said, `${url.href}, schema batonpass`)
  })

  it('of the service is read where nobody names one and the working directory has none', async () => {
    const [cwd, before] = [join(folder, 'elsewhere'), process.cwd()]
    mkdirSync(cwd, { recursive: true })
    const baton = batonWith({ HOME: join(folder, 'home'), BATONPASS_DATA_DIR: dataDir })
    process.chdir(cwd)
    try {
      namesStore(await baton('handoffs', 'list'), `embedded, in ${dataDir}`)
      for (const changing of [['prune'], ['recover', '--fail'], ['migrate', 'down', '--yes']]) {
        const { code, err } = await baton(...changing)
        expect(code).toBe(7)
        expect(err).toContain(join(cwd, '.batonpass'))
      }
      await makeStore(join(cwd, '.batonpass'))
      namesStore(await baton('handoffs', 'list'), `embedded, in ${join(cwd, '.batonpass')}`)
    } finally {
      process.chdir(before)
    }
  })

  it('its name leaves --json clean, and says which schema was chosen', async () => {
    const said = await batonOn(there.database)('handoffs', 'list', '--json')
    expect(JSON.parse(said.out)).toMatchObject({ items: expect.any(Array) })
    const other = await batonOn(there.database)('migrate', 'status', '--schema', 'tenant_7')
    expect(other.err).toMatch(/schema tenant_7$/m)
  })
})

it.each([
  ['postgres://ada:hunter2@127.0.0.1:1/none?sslpassword=hunter2&application_name=x', 'sslpassword=***'],
  ['postgres://127.0.0.1:1/none?user=ada&password=hunter2', 'password=***'],
  ['postgres://ada:hunter%322@127.0.0.1:1/none', 'ada:***@'],
  ['postgres://ada:hunter2@127.0.0.1:1,[::1]:2/none?sslpassword=hunter2', 'ada:***@127.0.0.1:1,[::1]:2/none'],
])('%s is named without its secrets', async (url, masked) => {
  const { err } = await batonOn(url)('handoffs', 'list')
  expect(err).toContain(masked)
  expect(err).not.toMatch(/hunter/)
})

it('an address that is none is not repeated', async () => {
  const { code, err } = await batonOn('postgres://ada:hunter2#@db/agents')('handoffs', 'list')
  expect(code).toBe(1)
  expect(err).toContain('store.bad_address')
  expect(err).not.toContain('hunter')
})

describe('a store that cannot be meant', () => {
  it.each<readonly [readonly string[], Readonly<Record<string, string>>, string]>([
    [['--database', 'postgres://h/d', '--data-dir', 'x'], {}, '--database names a server, and --data-dir the folder'],
    [['--database-file', 'f', '--data-dir', 'x'], {}, '--database-file names a server, and --data-dir the folder'],
    [
      ['--database', 'mysql://ada:hunter2@h/d'],
      {},
      '--database begins with mysql://, and Batonpass keeps its record in Postgres.',
    ],
    [['--database', 'HTTP://ada:hunter2@h/d'], {}, '--database begins with HTTP://'],
    [[], { DATABASE_URL: 'mysql://ada:hunter2@h/d' }, 'DATABASE_URL begins with mysql://'],
  ])('%j is refused with a sentence', async (flags, environment, sentence) => {
    const { code, out, err } = await batonWith(environment)('handoffs', 'list', ...flags)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(sentence)
    expect(err).not.toContain('hunter2')
  })

  it('a folder that is named is used beside a DATABASE_URL, which is not looked at', async () => {
    const other = batonWith({ DATABASE_URL: 'mysql://h/d' })
    expect((await other('conversations', 'list', '--data-dir', join(folder, 'nowhere'))).code).toBe(7)
  })
})
