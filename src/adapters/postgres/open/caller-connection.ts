import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import type {
  CallerTransaction,
  ClientInTransaction,
  KyselyTransaction,
} from '../../../ports/store/caller-transaction.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { isConnectionLost, toFailure } from '../statements/pg-errors.ts'

/** Sends one statement. */
type Ask = (text: string, values: readonly unknown[]) => Promise<{ readonly rows: unknown[] }>

/** Speaks in a transaction of the caller: it never begins, ends or releases anything. */
export class CallerDialect implements Dialect {
  readonly #ask: Ask

  /** @throws TypeError when this is no transaction, or one that has ended */
  constructor(transaction: CallerTransaction) {
    this.#ask = askOf(transaction)
  }

  createDriver = (): Driver => new CallerDriver(this.#ask)
  createAdapter = (): PostgresAdapter => new PostgresAdapter()
  createQueryCompiler = (): PostgresQueryCompiler => new PostgresQueryCompiler()
  createIntrospector = (database: Kysely<unknown>): PostgresIntrospector => new PostgresIntrospector(database)
}

class CallerDriver implements Driver {
  readonly #connection: CallerConnection

  constructor(ask: Ask) {
    this.#connection = new CallerConnection(ask)
  }

  async init(): Promise<void> {}
  acquireConnection = async (): Promise<DatabaseConnection> => this.#connection
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}

  beginTransaction = (): Promise<never> => refuseToEnd()
  commitTransaction = (): Promise<never> => refuseToEnd()
  rollbackTransaction = (): Promise<never> => refuseToEnd()
}

const refuseToEnd = async (): Promise<never> => {
  throw new TypeError('The transaction belongs to the caller')
}

class CallerConnection implements DatabaseConnection {
  readonly #ask: Ask
  /** One statement at a time: a connection takes no two at once. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const answer = this.#last.then(() => this.#answer<Row>(sql, parameters))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /** A failure of ours, so that it is never taken for one that passes: in a transaction nothing is tried again. */
  async #answer<Row>(text: string, values: readonly unknown[]): Promise<QueryResult<Row>> {
    try {
      const { rows } = await this.#ask(text, values)
      return { rows: rows as Row[] }
    } catch (error) {
      throw failureOf(error)
    }
  }

  // biome-ignore lint/correctness/useYield: it only refuses
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Nothing streams in a transaction of the caller')
  }
}

const failureOf = (error: unknown): StoreFailure => {
  if (error instanceof StoreFailure || !isConnectionLost(error)) return elsewhere(toFailure(error))
  const problem = `The transaction of the caller cannot be used any more: ${describeThrown(error)}. Run it again.`
  return new StoreFailure('store.unavailable', problem, { cause: error })
}

/** The store was looked at when it was opened, so a schema that is missing here is missing in another database. */
const elsewhere = (failure: StoreFailure): StoreFailure =>
  failure.code !== 'store.not_migrated'
    ? failure
    : new StoreFailure(
        failure.code,
        `The transaction is in a database that lacks the schema of this store: ${describeThrown(failure.cause)}. Begin it ` +
          'in the database that the store was opened on, with the same host and database in the address.',
        { cause: failure.cause },
      )

const askOf = (transaction: CallerTransaction): Ask => {
  if (typeof transaction !== 'object' || transaction === null) throw noTransaction('it is nothing')
  if ('isTransaction' in transaction) return askKysely(transaction)
  if ('totalCount' in transaction)
    throw noTransaction('it is a pool, whose statements may each take another connection')
  if (typeof transaction.query !== 'function') throw noTransaction('it has no method "query"')
  if (isIdle(transaction)) throw noTransaction('nothing was begun on that client, or it has ended')
  return askClient(transaction)
}

const askClient =
  (client: ClientInTransaction): Ask =>
  async (text, values) => {
    // It would be kept at once, whatever becomes of the rows of the caller.
    if (isIdle(client))
      throw new StoreFailure('store.failed', 'The transaction of the caller has ended. Begin another.')
    // Never by name: the connection may go through a pooler.
    return client.query(text, [...values])
  }

const askKysely = (transaction: KyselyTransaction): Ask => {
  if (transaction.isTransaction !== true) throw noTransaction('it is a Kysely outside of any transaction')
  const plain = transaction.withoutPlugins()
  return (text, values) => plain.executeQuery(CompiledQuery.raw(text, [...values]) as never)
}

const isIdle = (client: ClientInTransaction): boolean => client.getTransactionStatus?.() === 'I'

const noTransaction = (why: string): TypeError =>
  new TypeError(
    `This is no open transaction: ${why}. Give a client of "pg" after its "begin", or the transaction of Kysely.`,
  )
