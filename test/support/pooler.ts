import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cleanEnvironment } from './clean-room.ts'
import { answering, ended, freePort, lastLines, serverUser, type TestServer } from './postgres-server.ts'

const run = promisify(execFile)

const PLACES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer']

/** PgBouncer in transaction mode before a server, or `undefined` where the binary is not installed. */
export const startPooler = async (server: string): Promise<TestServer | undefined> => {
  const given = process.env.TEST_POOLER_URL
  if (given !== undefined) return { url: given, source: 'TEST_POOLER_URL', stop: async () => {} }
  const binary = PLACES.find((path) => existsSync(path))
  if (binary === undefined) return undefined
  const { hostname, port: serverPort, username, password, pathname } = new URL(server)
  const base = mkdtempSync(join(tmpdir(), 'batonpass-pooler-'))
  const port = await freePort()
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  writeFileSync(
    join(base, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort || 5432} user=${username}${secret}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      `unix_socket_dir =`,
      'auth_type = any',
      'pool_mode = transaction',
      'max_client_conn = 500',
      'default_pool_size = 10',
      'server_idle_timeout = 5',
    ].join('\n'),
  )
  const user = await serverUser()
  if (user !== undefined) for (const path of [base, join(base, 'pgbouncer.ini')]) chownSync(path, user.uid, user.gid)
  const child: ChildProcess = spawn(binary, [join(base, 'pgbouncer.ini')], {
    ...user,
    cwd: base,
    env: cleanEnvironment(process.env),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = lastLines(child)
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`
  const stop = async (): Promise<void> => {
    await ended(child)
    rmSync(base, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    await answering(url, child)
  } catch (cause) {
    await stop()
    throw new Error(`PgBouncer did not start: ${log()}`, { cause })
  }
  const { stdout } = await run(binary, ['--version'])
  return { url, source: stdout.split('\n')[0] ?? binary, stop }
}
