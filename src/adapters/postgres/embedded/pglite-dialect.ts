import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { StoreFailure } from '../../../ports/store/store-failure.ts'

/** The statements of an engine, or of one transaction in it. */
export interface Asking {
  query<Row>(
    text: string,
    parameters?: unknown[],
  ): Promise<{ readonly rows: Row[]; readonly affectedRows?: number | undefined }>
}

/** The part of PGlite that is used here. While a transaction is open, the engine keeps every other statement waiting. */
export interface Engine extends Asking {
  readonly closed: boolean
  readonly waitReady: Promise<void>
  transaction<T>(work: (transaction: Asking) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** An engine that also takes messages of Postgres's own protocol, for others to be served. */
export interface WireEngine extends Engine {
  /** Nothing else may be asked meanwhile. */
  exchange(messages: Uint8Array): Promise<Buffer>
  /** Ends a transaction that was begun by such messages, whatever the state of the disk. */
  rollback(): Promise<void>
}

/** Speaks to PGlite through Kysely. Kysely brings a dialect of its own only in versions that ask for Node 22. */
export class PgliteDialect implements Dialect {
  readonly #open: () => Promise<Engine>

  /** Takes an engine, or a function that opens one for the first statement. */
  constructor(engine: Engine | (() => Promise<Engine>)) {
    this.#open = typeof engine === 'function' ? engine : async () => engine
  }

  createDriver = (): Driver => new PgliteDriver(this.#open)
  createAdapter = (): PostgresAdapter => new PostgresAdapter()
  createQueryCompiler = (): PostgresQueryCompiler => new PostgresQueryCompiler()
  createIntrospector = (database: Kysely<unknown>): PostgresIntrospector => new PostgresIntrospector(database)
}

/** Connections to one engine. */
export class PgliteDriver implements Driver {
  readonly #open: () => Promise<Engine>
  #engine: Engine | undefined

  constructor(open: () => Promise<Engine>) {
    this.#open = open
  }

  async init(): Promise<void> {
    this.#engine = await this.#open()
    await this.#engine.waitReady
  }

  /** A new one each time: a transaction belongs to the connection that began it, and to no statement beside it. */
  async acquireConnection(): Promise<PgliteConnection> {
    if (this.#engine === undefined) throw new Error('The engine is not open yet')
    if (this.#engine.closed) throw new StoreFailure('store.failed', 'The store is closed')
    return new PgliteConnection(this.#engine)
  }

  beginTransaction = (connection: PgliteConnection): Promise<void> => connection.begin()
  commitTransaction = (connection: PgliteConnection): Promise<void> => connection.commit()
  rollbackTransaction = (connection: PgliteConnection): Promise<void> => connection.rollback()

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    if (this.#engine?.closed === false) await this.#engine.close()
  }
}

/** Makes the engine undo a transaction: it does so when the work inside fails. */
const ROLLED_BACK = new Error('The transaction was rolled back')

class PgliteConnection implements DatabaseConnection {
  readonly #engine: Engine
  #transaction: Asking | undefined
  #commit = (): void => {}
  #rollback = (): void => {}
  #ended: Promise<void> = Promise.resolve()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, affectedRows } = await (this.#transaction ?? this.#engine).query<Row>(sql, [...parameters])
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) }
  }

  /** The engine's transaction is one function; it stays open inside that function until it is told how to end. */
  begin(): Promise<void> {
    return new Promise((begun, failed) => {
      this.#ended = this.#engine.transaction(
        (transaction) =>
          new Promise<void>((commit, rollback) => {
            this.#transaction = transaction
            this.#commit = commit
            this.#rollback = () => rollback(ROLLED_BACK)
            begun()
          }),
      )
      this.#ended.catch(failed)
    })
  }

  async commit(): Promise<void> {
    this.#commit()
    await this.#ended
  }

  async rollback(): Promise<void> {
    this.#rollback()
    await this.#ended.catch((error: unknown) => {
      if (error !== ROLLED_BACK) throw error
    })
  }

  // biome-ignore lint/correctness/useYield: it only refuses
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('The embedded store does not stream')
  }
}
