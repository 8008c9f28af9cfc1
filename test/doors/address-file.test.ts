import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { spawnBaton } from '../cli/spawned.ts'
import { serverUser, startOwnServer, type TestServer } from '../support/postgres-server.ts'

const SECRET = 'tea/for#2'
const folder = mkdtempSync(join(tmpdir(), 'batonpass-address-'))
let server: TestServer
/** The address of a role that needs its password, with it and without. */
let [withPassword, without] = ['', '']

/** A file that only its owner may read, unless another mode is given. */
const file = (name: string, text: string, mode = 0o600): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

beforeAll(async () => {
  const hba = file('hba.conf', 'host all postgres 127.0.0.1/32 trust\nhost all keeper 127.0.0.1/32 scram-sha-256\n')
  const user = await serverUser()
  if (user !== undefined) for (const path of [folder, hba]) chownSync(path, user.uid, user.gid)
  // As long as a server may wait for a password: a login that fails must end by itself before.
  server = await startOwnServer({ hba_file: hba, authentication_timeout: '600s' })
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query(`create role keeper login password '${SECRET}'`)
  await admin.query('grant create on database postgres to keeper')
  await admin.end()
  const url = new URL(server.url)
  url.username = 'keeper'
  without = url.href
  url.password = encodeURIComponent(SECRET)
  withPassword = url.href
})

afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const failureOf = (databaseFile: string, more: object = {}): Promise<unknown> =>
  createBatonpass({ databaseFile, ...more }).then(
    () => 'it opened',
    (error: unknown) => error,
  )

describe('the address of the server from a file', () => {
  it('opens the store, in the library and on the command line, by flag and by variable', async () => {
    const databaseFile = file('url', `\n  ${withPassword}  \n`)
    const batonpass = await createBatonpass({ databaseFile, autoMigrate: true })
    unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix it', externalKey: 'from-file' }))
    await batonpass[Symbol.asyncDispose]()
    for (const [args, environment] of [
      [['--database-file', databaseFile], {}],
      [[], { BATONPASS_DATABASE_URL_FILE: databaseFile }],
    ] as const) {
      const { code, out, err } = await spawnBaton(['conversations', 'list', ...args], environment).ended
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toContain('from-file')
    }
  })

  it.each([0o644, 0o640, 0o604, 0o620])('is refused with mode %o, and the failure says what to run', async (mode) => {
    const path = file(`open-${mode}`, withPassword, mode)
    const failure = await failureOf(path)
    expect(failure).toMatchObject({ code: 'store.bad_address', message: expect.stringContaining(`chmod 600 ${path}`) })
    expect(String(failure)).not.toContain('tea')
  })

  it('is refused when it is missing, empty, a folder, several lines, or no address, and none of it is shown', async () => {
    const place = join(folder, 'place')
    mkdirSync(place)
    for (const [path, words] of [
      [join(folder, 'none'), 'cannot be read'],
      [file('empty', ' \n'), 'is empty'],
      [place, 'is no file'],
      [file('two', `${withPassword}\n${withPassword}`), 'more than one line'],
      [file('odd', 'tea:for/two'), 'does not begin with postgres://'],
    ] as const) {
      const failure = await failureOf(path)
      expect(failure).toMatchObject({ code: 'store.bad_address', message: expect.stringContaining(words) })
      expect(String(failure)).not.toContain('tea')
    }
  })

  it.skipIf(process.platform === 'win32')('that is a pipe is refused, and not waited for', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', ['-m', '600', pipe])
    // In a process of its own: one that waits for a writer cannot be ended from within.
    const baton = spawnBaton(['conversations', 'list', '--database-file', pipe], {})
    const slow = setTimeout(() => baton.child.kill('SIGKILL'), 20_000)
    const { code, err } = await baton.ended
    clearTimeout(slow)
    expect({ code, err }).toMatchObject({ code: expect.any(Number), err: expect.stringContaining('is no file') })
  })

  it('is not taken beside an address: two may name two servers', async () => {
    const path = file('both', withPassword)
    expect(await failureOf(path, { database: without })).toMatchObject({ code: 'store.bad_address' })
    const both = { BATONPASS_DATABASE_URL: without, BATONPASS_DATABASE_URL_FILE: path }
    expect(await spawnBaton(['conversations', 'list'], both).ended).toMatchObject({
      code: 2,
      err: expect.stringContaining('Unset one of them'),
    })
    const flags = ['--database', without, '--database-file', path]
    expect((await spawnBaton(['conversations', 'list', ...flags], {}).ended).code).toBe(2)
  })
})

describe('the password from a password file, as the driver reads it', () => {
  it('is taken from PGPASSFILE when the address has none; one that others may read is passed over', async () => {
    const line = `127.0.0.1:*:postgres:keeper:${SECRET}\n`
    const good = { BATONPASS_DATABASE_URL: without, PGPASSFILE: file('pgpass', line) }
    const opened = await spawnBaton(['conversations', 'list'], good).ended
    expect(opened).toMatchObject({ code: 0, out: expect.stringContaining('from-file') })
    const bad = { BATONPASS_DATABASE_URL: without, PGPASSFILE: file('pgpass-open', line, 0o644) }
    const refused = await spawnBaton(['conversations', 'list'], bad).ended
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('The server wants a password, and there is none.')
    expect(refused.err).not.toContain(SECRET)
  })
})
