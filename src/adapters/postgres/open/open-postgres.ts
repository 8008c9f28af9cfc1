import { PostgresDialect } from 'kysely'
import type pg from 'pg'
import { defined } from '../../../domain/kernel/defined.ts'
import type { KnownNames } from '../../../domain/kernel/known-names.ts'
import { mustBeKnown } from '../../../domain/run/run-configuration.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { Migrator } from '../migrate/migrator.ts'
import { PostgresStore } from './postgres-store.ts'
import { safePool, type WaitLimits } from './safe-pool.ts'
import type { Addresses } from './server-list.ts'
import { openServerPool, type ServerPool } from './server-pool.ts'
import type { Use } from './session-kind.ts'
import { SqlStore } from './sql-store.ts'
import { mustBeAddressed } from './store-address.ts'

/** How to reach a server, and what to do there. */
export interface PostgresOptions {
  /**
   * Where the server is, such as `postgres://user@host/database`. Several hosts with commas between them, or a list of
   * addresses, are a primary and its standbys: the one that takes writes is used, and looked for again after a failover.
   * Give this or a pool.
   */
  readonly connectionString?: Addresses | undefined
  /**
   * Where questions about history and audit go instead: the address of a standby, or several. Nothing is written there,
   * and what was stored a moment ago may be missing there.
   */
  readonly readFrom?: Addresses | undefined
  /** A pool of the caller's own: used, and never closed. */
  readonly pool?: pg.Pool
  /** The schema Batonpass has to itself; `batonpass` unless given. One schema per tenant keeps tenants apart. */
  readonly schema?: string
  /** Apply pending migrations on opening. A server's operator usually does that with `baton migrate up`. */
  readonly autoMigrate?: boolean
  /**
   * The connection goes through a transaction pooler such as PgBouncer, which takes no settings at connect time and no
   * named statements. A caller's own pool is always taken to be one.
   */
  readonly pooled?: boolean
  /** How many connections at most; 10 unless given. */
  readonly maxConnections?: number
  /** How long the server may work on one statement; 15 seconds unless given. */
  readonly statementTimeoutMs?: number
  /** How long to wait for an answer before the connection is given up; above the statement timeout. */
  readonly queryTimeoutMs?: number
  /** How long to wait for a connection; 5 seconds unless given. */
  readonly connectTimeoutMs?: number
  /** Told while `autoMigrate` waits for others, with who they are. */
  readonly onWarning?: (message: string) => void
}

const OPTION_NAMES: KnownNames<PostgresOptions> = {
  connectionString: true,
  readFrom: true,
  pool: true,
  schema: true,
  autoMigrate: true,
  pooled: true,
  maxConnections: true,
  statementTimeoutMs: true,
  queryTimeoutMs: true,
  connectTimeoutMs: true,
  onWarning: true,
}

const DEFAULT_STATEMENT_TIMEOUT_MS = 15_000
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000
const ANSWER_GRACE_MS = 5_000

/**
 * Opens a store on a Postgres server.
 *
 * @throws StoreFailure `store.not_migrated` or `store.newer_schema` when the schema is not the one this program knows;
 * `store.bad_address` when the connection string is none
 * @example
 * ```ts
 * const unreachable = openPostgres({ connectionString: 'postgres://nobody@127.0.0.1:1/none', connectTimeoutMs: 100 })
 * await unreachable.catch((failure: StoreFailure) => console.log(failure.code, failure.retryable)) // => store.unavailable true
 * ```
 */
export const openPostgres = async (options: PostgresOptions): Promise<PostgresStore> => {
  mustBeKnown(options, OPTION_NAMES)
  if (options.pool === undefined) mustBeAddressed(options, 'connectionString', 'Or give a pool.')
  mustBeAddressed(options, 'readFrom', 'Leave the option out to ask the store itself.')
  const { schema = 'batonpass', autoMigrate = false, readFrom } = options
  const servers = options.pool === undefined ? ownPool(options, options.connectionString, 'writing') : given(options)
  const replica = readFrom === undefined ? undefined : ownPool(options, readFrom, 'reading')
  const isDirect = options.pooled !== true && options.pool === undefined
  const store = new PostgresStore(servers.dialect, {
    schema,
    close: async () => {
      await Promise.all([servers.close(), replica?.close()])
    },
    ...(servers.client && isDirect && { client: listenerOf(servers.client) }),
    ...(replica && { replica: new SqlStore(replica.dialect, { schema, close: async () => {} }) }),
  })
  try {
    const migrator = new Migrator(store.database, defined({ onWarning: options.onWarning }))
    if (autoMigrate) await migrator.up()
    else await migrator.check()
    return store
  } catch (error) {
    await store[Symbol.asyncDispose]()
    throw error
  }
}

const listenerOf = (client: ServerPool['client']) => (moved: () => void) =>
  client(moved, { application_name: 'batonpass wake-ups' })

const statementTimeoutOf = ({ statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS }: PostgresOptions): number =>
  statementTimeoutMs

const waitLimitsOf = (options: PostgresOptions): WaitLimits => ({
  connectMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
  answerMs: options.queryTimeoutMs ?? statementTimeoutOf(options) + ANSWER_GRACE_MS,
})

const ownPool = (options: PostgresOptions, addresses: Addresses | undefined, use: Use): ServerPool => {
  if (addresses === undefined)
    throw new StoreFailure('store.bad_address', 'A Postgres store needs a connection string or a pool')
  const { pooled = false, maxConnections = 10 } = options
  // A pooler refuses settings it does not know; there the role's own statement_timeout applies.
  const settings = !pooled && { statement_timeout: statementTimeoutOf(options), application_name: 'batonpass' }
  const readOnly = !pooled && use === 'reading' && { options: '-c default_transaction_read_only=on' }
  return openServerPool(addresses, {
    use,
    waits: waitLimitsOf(options),
    isDirect: !pooled,
    config: { max: maxConnections, ...settings, ...readOnly },
  })
}

/** The caller's own pool: used, and never closed. */
const given = (options: PostgresOptions): Pick<ServerPool, 'dialect' | 'close'> & Partial<ServerPool> => {
  const pool = options.pool as pg.Pool
  const ignore = (): void => {}
  pool.on('error', ignore)
  return {
    dialect: new PostgresDialect({ pool: safePool(pool, { waits: waitLimitsOf(options), isDirect: false }) }),
    close: async () => void pool.removeListener('error', ignore),
  }
}
