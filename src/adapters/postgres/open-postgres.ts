import { PostgresDialect } from 'kysely'
import pg from 'pg'
import { defined } from '../../domain/kernel/defined.ts'
import type { KnownNames } from '../../domain/kernel/known-names.ts'
import { mustBeKnown } from '../../domain/run/configuration.ts'
import { StoreFailure } from '../../ports/store-failure.ts'
import { ClosingClient } from './closing-client.ts'
import { Migrator } from './migrator.ts'
import { PostgresStore } from './postgres-store.ts'
import { safePool, type WaitLimits } from './safe-pool.ts'
import { checkedAddress, mustBeSaid } from './store-address.ts'

/** How to reach a server, and what to do there. */
export interface PostgresOptions {
  /** Where the server is, such as `postgres://user@host/database`. Give this or a pool. */
  readonly connectionString?: string | undefined
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
  if (options.pool === undefined) mustBeSaid(options, 'connectionString', 'Or give a pool.')
  const { schema = 'batonpass', autoMigrate = false } = options
  const waits = waitLimitsOf(options)
  const pool = options.pool ?? newPool(options, waits)
  // An idle connection may break at any time; the pool drops it and opens another.
  const ignore = (): void => {}
  pool.on('error', ignore)
  const close = async (): Promise<void> => {
    if (options.pool !== undefined) pool.removeListener('error', ignore)
    else if (!pool.ending) await pool.end()
  }
  const isDirect = options.pooled !== true && options.pool === undefined
  const client = (): pg.Client =>
    new ClosingClient({ ...addressOf(options, waits), application_name: 'batonpass wake-ups' })
  const store = new PostgresStore(new PostgresDialect({ pool: safePool(pool, { waits, isDirect }) }), {
    schema,
    close,
    ...(isDirect && { client }),
  })
  try {
    const migrator = new Migrator(store.database, defined({ onWarning: options.onWarning }))
    if (autoMigrate) await migrator.up()
    else await migrator.check()
    return store
  } catch (error) {
    await close()
    throw error
  }
}

const statementTimeoutOf = ({ statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS }: PostgresOptions): number =>
  statementTimeoutMs

const waitLimitsOf = (options: PostgresOptions): WaitLimits => ({
  connectMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
  answerMs: options.queryTimeoutMs ?? statementTimeoutOf(options) + ANSWER_GRACE_MS,
})

const addressOf = ({ connectionString }: PostgresOptions, { connectMs }: WaitLimits): pg.ClientConfig => {
  if (connectionString === undefined) {
    throw new StoreFailure('store.bad_address', 'A Postgres store needs a connection string or a pool')
  }
  return { connectionString: checkedAddress(connectionString), connectionTimeoutMillis: connectMs, keepAlive: true }
}

const newPool = (options: PostgresOptions, waits: WaitLimits): pg.Pool => {
  const { pooled = false, maxConnections = 10 } = options
  return new pg.Pool({
    Client: ClosingClient,
    ...addressOf(options, waits),
    max: maxConnections,
    // A pooler refuses settings it does not know; there the role's own statement_timeout applies.
    ...(!pooled && { statement_timeout: statementTimeoutOf(options), application_name: 'batonpass' }),
  })
}
