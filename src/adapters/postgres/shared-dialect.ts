import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { StoreFailure } from '../../ports/store-failure.ts'
import { PATIENCE_MS, type SharedFolder, type Way } from './shared-folder.ts'

/** Speaks through Kysely to a folder that may change hands: each connection is to whoever has the folder then. */
export class SharedDialect implements Dialect {
  readonly #folder: SharedFolder

  constructor(folder: SharedFolder) {
    this.#folder = folder
  }

  createDriver = (): Driver => new SharedDriver(this.#folder)
  createAdapter = (): PostgresAdapter => new PostgresAdapter()
  createQueryCompiler = (): PostgresQueryCompiler => new PostgresQueryCompiler()
  createIntrospector = (database: Kysely<unknown>): PostgresIntrospector => new PostgresIntrospector(database)
}

class SharedDriver implements Driver {
  readonly #folder: SharedFolder
  /** A connection stays with the driver it came from, whoever has the folder by now. */
  readonly #drivers = new WeakMap<DatabaseConnection, Driver>()

  constructor(folder: SharedFolder) {
    this.#folder = folder
  }

  async init(): Promise<void> {
    await this.#folder.way()
  }

  /** Waits while the folder changes hands. The statement itself was not sent yet, so nothing is sent twice. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const way = await this.#folder.way()
      try {
        return await this.#connectedBy(way)
      } catch (error) {
        if (way.holder === undefined || (error instanceof StoreFailure && !error.retryable)) throw error
        if (error instanceof StoreFailure || Date.now() > deadline) throw notLetIn(way.holder, error)
        await this.#folder.lose(way)
      }
    }
  }

  async #connectedBy({ driver, holder }: Way): Promise<DatabaseConnection> {
    const connect = (): Promise<DatabaseConnection> => driver.acquireConnection()
    const connection = await (holder === undefined ? connect() : this.#folder.waitingFor(holder, connect))
    this.#drivers.set(connection, driver)
    return connection
  }

  beginTransaction = (connection: DatabaseConnection, settings: TransactionSettings): Promise<void> =>
    this.#driverOf(connection).beginTransaction(connection, settings)

  commitTransaction = (connection: DatabaseConnection): Promise<void> =>
    this.#driverOf(connection).commitTransaction(connection)

  rollbackTransaction = (connection: DatabaseConnection): Promise<void> =>
    this.#driverOf(connection).rollbackTransaction(connection)

  releaseConnection = (connection: DatabaseConnection): Promise<void> =>
    this.#driverOf(connection).releaseConnection(connection)

  destroy = (): Promise<void> => this.#folder.close()

  #driverOf(connection: DatabaseConnection): Driver {
    const driver = this.#drivers.get(connection)
    if (driver === undefined) throw new Error('The connection is from somewhere else')
    return driver
  }
}

const notLetIn = (holder: string, cause: unknown): StoreFailure =>
  new StoreFailure(
    'store.unavailable',
    `The embedded store is held by ${holder}, which let nobody else in within ${PATIENCE_MS / 1000} seconds. Is it ` +
      'stopped, or busy with something else? Try again, or end it: then another process takes the store over.',
    { cause },
  )
