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
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import type { SharedFolder } from './shared-folder.ts'
import { notAnswered } from './shared-waiting.ts'
import type { FolderWay } from './way-through.ts'

/** Speaks through Kysely to a folder that may change hands: each connection is to the process that has the folder then. */
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
  /** A connection stays with the driver it came from, also when another process has the folder by now. */
  readonly #drivers = new WeakMap<DatabaseConnection, Driver>()

  constructor(folder: SharedFolder) {
    this.#folder = folder
  }

  async init(): Promise<void> {
    await this.#folder.way()
  }

  /** Waits while the folder changes hands. The statement itself was not sent yet, so nothing is sent twice. */
  acquireConnection(): Promise<DatabaseConnection> {
    return this.#folder.waitingFor(() => this.#connected())
  }

  async #connected(): Promise<DatabaseConnection> {
    const { patienceMs } = this.#folder
    const deadline = Date.now() + patienceMs
    for (let tries = 1; ; tries += 1) {
      const way = await this.#folder.way()
      try {
        return await this.#connectedBy(way)
      } catch (error) {
        if (way.holder === undefined || (error instanceof StoreFailure && !error.retryable)) throw error
        if (error instanceof StoreFailure || Date.now() > deadline) throw notAnswered(way.holder, error, patienceMs)
        await this.#folder.lose(way, tries)
      }
    }
  }

  async #connectedBy({ driver }: FolderWay): Promise<DatabaseConnection> {
    const connection = await driver.acquireConnection()
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
