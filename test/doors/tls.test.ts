import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/entry/postgres.ts'
import { serverUser, startOwnServer, type TestServer } from '../support/postgres-server.ts'
import { makeAuthority } from './certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'batonpass-tls-'))
const at = (name: string): string => join(folder, name)
let secure: TestServer
let plain: TestServer

beforeAll(async () => {
  const ours = makeAuthority('Our CA')
  const { certificate, key } = ours.issue('localhost')
  writeFileSync(at('ca.pem'), ours.certificate)
  writeFileSync(at('other-ca.pem'), makeAuthority('Another CA').certificate)
  writeFileSync(at('server.pem'), certificate)
  writeFileSync(at('server.key'), key, { mode: 0o600 })
  const user = await serverUser()
  if (user !== undefined) for (const path of [folder, at('server.key')]) chownSync(path, user.uid, user.gid)
  const settings = { ssl: 'on', ssl_cert_file: at('server.pem'), ssl_key_file: at('server.key') }
  ;[secure, plain] = await Promise.all([startOwnServer(settings), startOwnServer({})])
})

afterAll(async () => {
  await Promise.all([secure?.stop(), plain?.stop()])
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** The address of a server under a name, with these settings. */
const address = (server: TestServer, host: string, settings: Readonly<Record<string, string>>): string => {
  const url = new URL(server.url)
  url.hostname = host
  for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, value)
  return url.href
}

/** Opens a store there, and says how the connection is secured; or answers with the failure. */
const opened = async (connectionString: string): Promise<unknown> => {
  try {
    await using _ = await openPostgres({ connectionString, autoMigrate: true })
    const client = new pg.Client({ connectionString })
    await client.connect()
    const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    await client.end()
    return rows[0]?.ssl === true ? 'secured' : 'open'
  } catch (error) {
    return error
  }
}

const REFUSED = { code: 'store.bad_address', retryable: false }
const says = (...words: readonly string[]) =>
  words.map((word) => expect.objectContaining({ ...REFUSED, message: expect.stringContaining(word) }))

describe('TLS to a server', () => {
  const FULL = { sslmode: 'verify-full' }

  it('is used and checked with verify-full and the CA that signed the certificate', async () => {
    expect(await opened(address(secure, 'localhost', { ...FULL, sslrootcert: at('ca.pem') }))).toBe('secured')
  })

  it('fails with another CA, and with none, and the failure says what to name', async () => {
    for (const more of [{ sslrootcert: at('other-ca.pem') }, {}]) {
      const failure = await opened(address(secure, 'localhost', { ...FULL, ...more }))
      for (const expected of says('sslrootcert=', 'from nobody who is trusted here')) expect(failure).toEqual(expected)
    }
  })

  it('fails for a host that the certificate is not for', async () => {
    const failure = await opened(address(secure, '127.0.0.1', { ...FULL, sslrootcert: at('ca.pem') }))
    for (const expected of says('is for another host', 'Use the host name')) expect(failure).toEqual(expected)
  })

  it('is as strict with require as with verify-full; only no-verify checks nothing', async () => {
    const failure = await opened(address(secure, 'localhost', { sslmode: 'require' }))
    expect(failure).toEqual(says('sslrootcert=')[0])
    const named = { sslmode: 'require', sslrootcert: at('ca.pem') }
    expect(await opened(address(secure, 'localhost', named))).toBe('secured')
    expect(await opened(address(secure, '127.0.0.1', { sslmode: 'no-verify' }))).toBe('secured')
  })

  it('is not used unless it is asked for', async () => {
    expect(await opened(address(secure, 'localhost', {}))).toBe('open')
  })

  it('fails where the server has none, and does not go on without', async () => {
    const failure = await opened(address(plain, 'localhost', { ...FULL, sslrootcert: at('ca.pem') }))
    expect(failure).toEqual(says('takes no TLS connections')[0])
  })

  it('fails where the file of the CA is missing, and names it', async () => {
    const failure = await opened(address(secure, 'localhost', { ...FULL, sslrootcert: at('no.pem') }))
    expect(failure).toMatchObject({ message: expect.stringContaining(at('no.pem')) })
  })
})
