import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { makeStore } from '../embedded/made-store.ts'
import { batonWith, historyInDatabase } from './terminal.ts'

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
  search: ['flaky'],
  report: [],
  messages: [ID],
  turns: [ID],
}

/** Hooks speak to the service, and open no store themselves. */
const HOOKS = Object.keys(CLI_COMMANDS).filter((name) => name.startsWith('hook '))

/** These change the settings of agents, and know no store. */
const INSTALLING = Object.keys(CLI_COMMANDS).filter((name) => /^(?:claude|codex) /.test(name))

/** These write, and begin a store where there is none; or need none; or say that there is none, which is no failure. */
const OTHERS = [
  ...['demo', 'run', 'work', 'serve', 'migrate up', 'migrate sql', 'config check', 'replay', 'completion'],
  ...['init', 'status', 'doctor', 'mcp', 'handoff', 'thread setup', ...HOOKS, ...INSTALLING],
]

const reading = Object.entries(READING).map(([name, args]) => [name, [...name.split(' '), ...args]] as const)

const folder = mkdtempSync(join(tmpdir(), 'batonpass-which-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const without = batonWith({ HOME: join(folder, 'home') })
const batonOn = (database: string) => batonWith({ BATONPASS_DATABASE_URL: database })

it('every command is known here: as one that reads, or as another', () => {
  expect([...Object.keys(READING), ...OTHERS].sort()).toEqual(Object.keys(CLI_COMMANDS).sort())
})

describe.each(reading)('baton %s', (_, args) => {
  it('where there is no store says so, with a status of its own, and makes none', async () => {
    const dataDir = join(folder, 'nowhere')
    for (const shape of [[], ['--json']]) {
      const { code, out, err } = await without(...args, ...shape, '--data-dir', dataDir)
      expect({ code, out }).toEqual({ code: 7, out: '' })
      expect(err).toContain(`There is no embedded store in ${dataDir}`)
      expect(err).toContain('BATONPASS_DATABASE_URL')
      expect(err).toContain('--data-dir')
      expect(existsSync(dataDir)).toBe(false)
    }
  })

  it.each([
    ['BATONPASS_DATABASE_URL', { BATONPASS_DATABASE_URL: '' }, []],
    ['BATONPASS_DATABASE_URL', { BATONPASS_DATABASE_URL: '  ' }, []],
    ['--database', {}, ['--database', '']],
    ['--database', { BATONPASS_DATABASE_URL: 'postgres://127.0.0.1:1/none' }, ['--database', ' ']],
    ['--data-dir', {}, ['--data-dir', '']],
  ] as const)('refuses an empty %s', async (name, environment, flags) => {
    const { code, err } = await batonWith(environment)(...args, ...flags)
    expect(code).toBe(2)
    expect(err).toContain(`${name} is empty`)
  })
})

it('a folder that is named is used, however empty BATONPASS_DATABASE_URL is', async () => {
  const { code } = await batonWith({ BATONPASS_DATABASE_URL: '' })(
    'conversations',
    'list',
    '--data-dir',
    join(folder, 'nowhere'),
  )
  expect(code).toBe(7)
})

describe('the line that names the store', () => {
  const dataDir = join(folder, 'store')
  let there: Awaited<ReturnType<typeof historyInDatabase>>
  beforeAll(async () => {
    await makeStore(dataDir)
    there = await historyInDatabase()
  })

  /** What a command says on the side, to a person at a terminal or beside a pipe. */
  const aside = async (
    isTerminal: boolean,
    environment: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ) => {
    const [out, err]: [string[], string[]] = [[], []]
    const terminal = {
      out: { line: (text: string) => void out.push(text), isTerminal },
      err: { line: (text: string) => void err.push(text) },
      version: '0.0.0',
      environment: { HOME: join(folder, 'home'), ...environment },
    }
    const code = await runCli(args, terminal)
    expect(out.join('\n')).not.toContain('Store:')
    return { code, err: err.join('\n') }
  }

  it('is there for a person, where a variable chose the store, and its password is not', async () => {
    const url = new URL(there.database)
    url.password = 'hunter2-swordfish'
    const shown = await aside(true, { BATONPASS_DATABASE_URL: url.href }, 'handoffs', 'list')
    url.password = '***'
    expect(shown).toEqual({ code: 0, err: `Store: ${url.href}, schema batonpass` })
    const other = await aside(
      true,
      { BATONPASS_DATABASE_URL: there.database },
      'migrate',
      'status',
      '--schema',
      'tenant_7',
    )
    expect(other.err).toMatch(/schema tenant_7$/m)
  })

  it('is not there in a pipe, nor for a store that a flag names', async () => {
    const environment = { BATONPASS_DATA_DIR: dataDir }
    expect(await aside(false, environment, 'handoffs', 'list')).toEqual({ code: 0, err: '' })
    expect(await aside(false, environment, 'handoffs', 'list', '--json')).toEqual({ code: 0, err: '' })
    expect(await aside(true, {}, 'handoffs', 'list', '--data-dir', dataDir)).toEqual({ code: 0, err: '' })
    expect(await aside(true, environment, 'handoffs', 'list')).toEqual({
      code: 0,
      err: `Store: embedded, in ${dataDir}`,
    })
  })

  it('is there once when something fails, whichever store it is, and not when the words are wrong', async () => {
    const named = `Store: embedded, in ${dataDir}`
    const missing = ['handoffs', 'show', ID]
    for (const isTerminal of [true, false]) {
      const byVariable = await aside(isTerminal, { BATONPASS_DATA_DIR: dataDir }, ...missing)
      expect(byVariable.code).toBe(3)
      expect(byVariable.err.split(named)).toHaveLength(2)
      const byFlag = await aside(isTerminal, {}, ...missing, '--data-dir', dataDir)
      expect(byFlag.err.endsWith(`\n${named}`)).toBe(true)
    }
    const wrong = await aside(false, { BATONPASS_DATA_DIR: dataDir }, 'handoffs', 'list', '--limit', 'many')
    expect(wrong.code).toBe(2)
    expect(wrong.err).not.toContain('Store:')
  })

  it('is not there for the person’s own store, until something fails', async () => {
    const home = join(folder, 'home-with-store')
    await makeStore(join(home, '.batonpass'))
    const environment = { HOME: home }
    expect(await aside(true, environment, 'handoffs', 'list')).toEqual({ code: 0, err: '' })
    expect((await aside(true, environment, 'handoffs', 'show', ID)).err).toContain(`Store: embedded, in ${home}`)
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
    [[], { BATONPASS_DATABASE_URL: 'mysql://ada:hunter2@h/d' }, 'BATONPASS_DATABASE_URL begins with mysql://'],
  ])('%j is refused with a sentence', async (flags, environment, sentence) => {
    const { code, out, err } = await batonWith(environment)('handoffs', 'list', ...flags)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(sentence)
    expect(err).not.toContain('hunter2')
  })

  it('a folder that is named is used beside a BATONPASS_DATABASE_URL, which is not looked at', async () => {
    const other = batonWith({ BATONPASS_DATABASE_URL: 'mysql://h/d' })
    expect((await other('conversations', 'list', '--data-dir', join(folder, 'nowhere'))).code).toBe(7)
  })
})
