import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ownName } from '../../src/adapters/files/own-names.ts'
import { isKnownProject, knownStores, rememberProject, rememberStore } from '../../src/adapters/place/known-stores.ts'

let room = ''
let environment: { readonly HOME: string }
const list = (): string => join(environment.HOME, '.batonpass', 'stores.json')

beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'batonpass-known-'))
  environment = { HOME: join(room, 'home') }
  mkdirSync(environment.HOME)
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const folder = (name: string): string => {
  const path = join(room, name)
  mkdirSync(path, { recursive: true })
  return path
}

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute))

describe('the private list of stores', () => {
  it('is empty where there is none, and where there is no home', () => {
    expect(knownStores(environment)).toEqual([])
    expect(knownStores({ HOME: join(room, 'nowhere') })).toEqual([])
  })

  it('lists what was opened, newest first, each once', () => {
    const [one, two] = [folder('one'), folder('two')]
    rememberStore(environment, { dataDir: one }, at(1))
    rememberStore(environment, { dataDir: two }, at(2))
    rememberStore(environment, { dataDir: `${one}/../one` }, at(3))
    expect(knownStores(environment)).toEqual([
      { kind: 'folder', path: one, openedAt: at(3).toISOString() },
      { kind: 'folder', path: two, openedAt: at(2).toISOString() },
    ])
  })

  it('is for its owner only, and so is its folder', () => {
    rememberStore(environment, { dataDir: folder('one') })
    expect(statSync(list()).mode & 0o777).toBe(0o600)
    expect(statSync(join(environment.HOME, '.batonpass')).mode & 0o777).toBe(0o700)
  })

  it('is not written again within a minute, and is when the clock went back', () => {
    const one = folder('one')
    rememberStore(environment, { dataDir: one }, at(5))
    rememberStore(environment, { dataDir: one }, new Date(at(5).getTime() + 30_000))
    expect(knownStores(environment)[0]?.openedAt).toBe(at(5).toISOString())
    rememberStore(environment, { dataDir: one }, at(2))
    expect(knownStores(environment)[0]?.openedAt).toBe(at(2).toISOString())
  })

  it.each([
    ['postgres://ada:hunter2@db.example/agents', { host: 'db.example', port: '5432', database: 'agents', user: 'ada' }],
    [
      'postgres://ada@db:6432/agents?sslpassword=hunter2',
      { host: 'db', port: '6432', database: 'agents', user: 'ada' },
    ],
    ['postgres://db/agents?user=ada&password=hunter2', { host: 'db', port: '5432', database: 'agents', user: 'ada' }],
    ['postgres://ada:hun@ter2@a:1,[::1]:2/agents', { host: 'a,::1', port: '1,2', database: 'agents', user: 'ada' }],
    ['postgres://db/agents?options=-c%20x%3Dhunter2', { host: 'db', port: '5432', database: 'agents' }],
    ['postgres:///agents?host=/run/hunter', { host: '/run/hunter', port: '5432', database: 'agents' }],
    ['/run/postgres agents', { host: '/run/postgres', port: '', database: 'agents' }],
    [
      'socket://ada:hunter2@/run/postgres?db=agents',
      { host: '/run/postgres', port: '', database: 'agents', user: 'ada' },
    ],
  ])('names a server without its secrets: %s', (database, named) => {
    rememberStore(environment, { database, schema: 'tenant_7' }, at(1))
    expect(knownStores(environment)).toEqual([
      { kind: 'server', ...named, schema: 'tenant_7', openedAt: at(1).toISOString() },
    ])
    expect(readFileSync(list(), 'utf8')).not.toContain('hunter2')
  })

  it.each(['postgres://ada:hunter2#@db/agents', 'postgres://ada:hunter2/x@db/agents', 'mysql://ada:hunter2@db/x'])(
    'leaves a server out when it cannot be told where its password is: %s',
    (database) => {
      rememberStore(environment, { database })
      expect(knownStores(environment)).toEqual([])
      expect(existsSync(list()) && readFileSync(list(), 'utf8').includes('hunter2')).toBe(false)
    },
  )

  it('keeps the file that has the address, by which it can be opened again', () => {
    rememberStore(environment, { database: 'postgres://db/agents', databaseFile: '/etc/agents.url' }, at(1))
    expect(knownStores(environment)).toMatchObject([{ host: 'db', schema: 'batonpass', file: '/etc/agents.url' }])
  })

  it('keeps the 200 newest, and every project store', () => {
    const project = folder('project')
    rememberProject(environment, project, 'the-id')
    const path = folder('some')
    const opened = Array.from({ length: 250 }, (_, minute) => ({
      kind: 'folder',
      path: `${path}/${minute}`,
      openedAt: at(minute).toISOString(),
    }))
    writeFileSync(
      list(),
      JSON.stringify({ v: 1, stores: [{ kind: 'folder', path: project, id: 'the-id' }, ...opened] }),
    )
    rememberStore(environment, { dataDir: path }, at(251))
    const stores = knownStores(environment)
    expect(stores).toHaveLength(201)
    expect(stores[0]).toMatchObject({ path })
    expect(stores[199]).toMatchObject({ path: `${path}/51` })
    expect(isKnownProject(environment, project, 'the-id')).toBe(true)
    expect(isKnownProject(environment, project, 'another')).toBe(false)
    expect(isKnownProject(environment, path, 'the-id')).toBe(false)
  })

  it('a project that is opened keeps its id', () => {
    const project = folder('project')
    rememberProject(environment, project, 'the-id')
    rememberStore(environment, { dataDir: project }, at(1))
    expect(knownStores(environment)).toEqual([
      { kind: 'folder', path: project, id: 'the-id', openedAt: at(1).toISOString() },
    ])
  })

  it.each(['', '{', '[]', 'null', '{"v":1,"stores":[1,null,{"kind":"folder"},{"kind":"else","path":"/x"}]}'])(
    'that is damaged is empty, and is put aside or written anew: %j',
    (text) => {
      mkdirSync(join(environment.HOME, '.batonpass'), { mode: 0o700 })
      writeFileSync(list(), text)
      expect(knownStores(environment)).toEqual([])
      rememberStore(environment, { dataDir: folder('one') })
      expect(knownStores(environment)).toHaveLength(1)
    },
  )

  it('that others may write to is not believed, and not replaced', () => {
    rememberProject(environment, folder('one'), 'the-id')
    chmodSync(list(), 0o666)
    expect(knownStores(environment)).toEqual([])
    rememberStore(environment, { dataDir: folder('two') })
    expect(readFileSync(list(), 'utf8')).not.toContain('two')
  })

  it('cannot be written where the home folder is a file: nothing is said', () => {
    const home = join(room, 'file')
    writeFileSync(home, '')
    expect(() => rememberStore({ HOME: home }, { dataDir: folder('one') })).not.toThrow()
    expect(() => rememberProject({ HOME: home }, folder('one'), 'the-id')).toThrow()
  })

  it('has a lock and a draft that a killed process left taken from it', () => {
    const own = join(environment.HOME, '.batonpass')
    mkdirSync(own, { mode: 0o700 })
    for (const kind of ['lock', 'new'] as const)
      writeFileSync(join(own, ownName(kind).replace(/(lock|new)-\d+-\d+/, '$1-4194304-1')), '')
    rememberProject(environment, folder('one'), 'the-id')
    expect(knownStores(environment)).toHaveLength(1)
    expect(readdirSync(own).filter((name) => name.startsWith('.batonpass-'))).toEqual([])
  })

  it('loses nothing when many processes write to it at once', async () => {
    const module = fileURLToPath(new URL('../../src/adapters/place/known-stores.ts', import.meta.url))
    const script = (who: number): string =>
      `const { rememberProject } = await import(${JSON.stringify(module)});
       for (let i = 0; i < 5; i += 1) rememberProject(process.env, process.env.ROOM + '/p' + (${who} * 5 + i), 'id-' + (${who} * 5 + i))`
    for (let i = 0; i < 20; i += 1) folder(`p${i}`)
    const writers = Array.from({ length: 4 }, (_, who) =>
      spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script(who)], {
        env: { ...process.env, ...environment, ROOM: room },
        stdio: ['ignore', 'inherit', 'inherit'],
      }),
    )
    const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0] as number))
    expect(codes).toEqual([0, 0, 0, 0])
    expect(knownStores(environment)).toHaveLength(20)
  })
})
