import { execFile } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cleanEnvironment } from '../support/clean-room.ts'
import { freePort, serverUser } from '../support/postgres-server.ts'
import { onServer } from '../support/test-databases.ts'

const run = promisify(execFile)

/** What is acknowledged has reached the operating system, which outlives every process that is killed here. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'on',
  max_connections: '100',
  wal_level: 'replica',
  wal_keep_size: '256MB',
  max_wal_senders: '10',
  hot_standby: 'on',
  wal_receiver_status_interval: '1s',
  log_min_messages: 'fatal',
  // A standby of a server that is gone asks for it again at once.
  wal_retrieve_retry_interval: '200ms',
}

/** The name under which a standby reports to its primary. */
export const STANDBY = 'standby'

/** Where servers are started from, and whose they are. */
export interface Ground {
  readonly bin: string
  readonly base: string
}

/** One server of a cluster, on the loopback. */
export class PostgresNode {
  readonly port: number
  readonly #ground: Ground
  readonly #data: string

  private constructor(ground: Ground, port: number, data: string) {
    this.#ground = ground
    this.port = port
    this.#data = data
  }

  /** Makes a new server, and starts it. */
  static async make(ground: Ground): Promise<PostgresNode> {
    const node = await PostgresNode.#at(ground)
    const plain = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync', '--wal-segsize=4']
    await node.#run('initdb', '-D', node.#data, ...plain)
    await node.#control('start')
    return node
  }

  /** Makes a standby of a server that runs. The server is stopped for a moment unless `pg_basebackup` is there. */
  static async standbyOf(
    primary: PostgresNode,
    { isCopied, port }: { readonly isCopied: boolean; readonly port?: number },
  ): Promise<PostgresNode> {
    const node = await PostgresNode.#at(primary.#ground, port)
    if (isCopied) {
      await primary.stop()
      cpSync(primary.#data, node.#data, { recursive: true })
      await node.#own(node.#data)
      await primary.#control('start')
    } else {
      const from = [
        '-h',
        '127.0.0.1',
        '-p',
        String(primary.port),
        '-U',
        'postgres',
        '-X',
        'stream',
        '-c',
        'fast',
        '--no-sync',
      ]
      await node.#run('pg_basebackup', '-D', node.#data, ...from)
    }
    writeFileSync(join(node.#data, 'standby.signal'), '')
    await node.#own(join(node.#data, 'standby.signal'))
    const conninfo = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${STANDBY}`
    appendFileSync(
      join(node.#data, 'postgresql.auto.conf'),
      `\nprimary_conninfo = '${conninfo}'\nsynchronous_standby_names = ''\n`,
    )
    await node.#control('start')
    return node
  }

  static async #at(ground: Ground, given?: number): Promise<PostgresNode> {
    const port = given ?? (await freePort())
    return new PostgresNode(ground, port, join(ground.base, `data-${port}-${Date.now()}`))
  }

  /** Its address, for a database. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Changes a setting while the server runs. */
  async set(name: string, value: string): Promise<void> {
    await onServer(this.url(), `alter system set ${name} = '${value}'`)
    await onServer(this.url(), 'select pg_reload_conf()')
  }

  async promote(): Promise<void> {
    await this.#control('promote')
  }

  async stop(): Promise<void> {
    await this.#control('stop', '-m', 'fast')
  }

  /** Kills every process of the server, as if its machine had lost its power. */
  kill(): void {
    const [line = ''] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(line)
    if (!Number.isSafeInteger(pid) || pid < 2) throw new Error(`No process to kill in ${this.#data}`)
    const children = childrenOf(pid)
    for (const one of [pid, ...children]) {
      try {
        process.kill(one, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** Ends the server, whatever state it is in, and takes its data away. */
  async end(): Promise<void> {
    await this.#control('stop', '-m', 'immediate').catch(() => {})
    rmSync(this.#data, { recursive: true, force: true, maxRetries: 10 })
  }

  async #control(...args: readonly string[]): Promise<void> {
    const flags = {
      ...SETTINGS,
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: this.#ground.base,
    }
    const given = Object.entries(flags).map(([name, value]) => `-c ${name}=${value}`)
    const log = join(this.#ground.base, `log-${this.port}`)
    await this.#run('pg_ctl', '-D', this.#data, '-w', '-t', '60', '-l', log, '-o', given.join(' '), ...args)
  }

  async #run(program: string, ...args: readonly string[]): Promise<void> {
    const { bin, base } = this.#ground
    const env = { ...cleanEnvironment(process.env), LC_ALL: 'C', HOME: base }
    await run(join(bin, program), [...args], { ...(await serverUser()), cwd: base, env })
  }

  async #own(path: string): Promise<void> {
    const user = await serverUser()
    if (user === undefined) return
    const all = (at: string): void => {
      chownSync(at, user.uid, user.gid)
    }
    all(path)
    if (path !== this.#data) return
    for (const name of readdirSync(path, { recursive: true })) all(join(path, String(name)))
  }
}

/** Makes the folder that servers live in. */
export const ownedFolder = async (path: string): Promise<string> => {
  mkdirSync(path, { recursive: true })
  const user = await serverUser()
  if (user !== undefined) chownSync(path, user.uid, user.gid)
  return path
}

/**
 * The processes that a process has started. Each server process has the first one for its parent. Where they cannot be listed,
 * they are left to end by themselves.
 */
const childrenOf = (parent: number): readonly number[] =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // The name stands in parentheses, and may hold blanks.
        const [, ppid] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
        return Number(ppid) === parent
      } catch {
        return false
      }
    })
