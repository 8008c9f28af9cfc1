import { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import type { CallerTransaction } from '../../src/entry/ports.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ReadBack } from '../cases/read-back.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const { TEST_DATABASE_URL: SERVER = '', TEST_POOLER_URL: POOLER } = process.env

/** Where the caller's connections go. */
export const LINES = [
  { line: 'direct', url: SERVER },
  ...(POOLER === undefined ? [] : [{ line: 'through the pooler', url: POOLER }]),
]

/** A transaction of the caller, with a table of the caller. */
export interface OpenTransaction {
  readonly transaction: CallerTransaction
  /** Writes a row of the caller. */
  addJob(id: number, parent?: number): Promise<void>
}

/** How a caller may come to a transaction. */
export type Means = 'a client of pg' | 'a transaction of Kysely'

export const MEANS: readonly Means[] = ['a client of pg', 'a transaction of Kysely']

/** A store, and a caller that has a table of its own beside it. */
export class Stage implements AsyncDisposable {
  readonly store: Store
  readonly pool: pg.Pool
  readonly scene: Scene
  readonly kept: ReadBack

  private constructor(store: Store, pool: pg.Pool) {
    this.store = store
    this.pool = pool
    this.scene = new Scene({ store, passTime: async () => {} })
    this.kept = new ReadBack(store)
  }

  static async open(url: string = SERVER): Promise<Stage> {
    const connectionString = withDatabase(url, await cloneDatabase())
    const pool = new pg.Pool({ connectionString })
    await pool.query(`create table jobs (
      id integer primary key, parent integer constraint jobs_parent_exists references jobs deferrable initially deferred)`)
    return new Stage(await openPostgres({ connectionString, pooled: url !== SERVER }), pool)
  }

  /** The jobs that are there, seen from outside. */
  async jobs(): Promise<readonly number[]> {
    const { rows } = await this.pool.query<{ id: number }>('select id from jobs order by id')
    return rows.map(({ id }) => id)
  }

  /** Works in a transaction; one that throws is rolled back. */
  within<T>(means: Means, work: (open: OpenTransaction) => Promise<T>): Promise<T> {
    return means === 'a client of pg'
      ? this.withClient(({ client, addJob }) => work({ transaction: client, addJob }))
      : this.#withKysely(work)
  }

  async withClient<T>(
    work: (open: { client: pg.PoolClient; addJob: OpenTransaction['addJob'] }) => Promise<T>,
    begin = 'begin',
  ): Promise<T> {
    const client = await this.pool.connect()
    const addJob = async (id: number, parent?: number): Promise<void> => {
      await client.query('insert into jobs values ($1, $2)', [id, parent ?? null])
    }
    try {
      await client.query(begin)
      const done = await work({ client, addJob })
      await client.query('commit')
      return done
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }

  /** The plugins would change what comes back, if anything of ours went through them. */
  #withKysely<T>(work: (open: OpenTransaction) => Promise<T>): Promise<T> {
    const dialect = new PostgresDialect({ pool: this.pool })
    const kysely = new Kysely<unknown>({ dialect, plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()] })
    return kysely.transaction().execute((transaction) =>
      work({
        transaction,
        addJob: async (id, parent) => {
          await sql`insert into jobs values (${id}, ${parent ?? null})`.execute(transaction)
        },
      }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]()
    await this.pool.end()
  }
}
