import { CompiledQuery } from 'kysely'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { quoted as shellWord } from '../../../processes/quoted.ts'
import { type Database, quotedName, withRetry } from '../statements/database.ts'
import { isContention, isTransient, toFailure } from '../statements/pg-errors.ts'
import { type Applied, isOldNumbering, isPending, refuseForeign, unknownOf } from './applied-changes.ts'
import { LockPatience, type LockWait } from './lock-wait.ts'
import { ledgerOf, ledgerSql, lockName, type Migration, readMigrations } from './migration-files.ts'
import { offlineSql } from './offline-sql.ts'
import { statementsOf } from './sql-statements.ts'

/** Where each change stands. */
export interface MigrationStatus {
  readonly name: string
  /** `unknown` means the database has a change this program does not know: it is newer. */
  readonly state: 'applied' | 'pending' | 'unknown'
  /** When, by the database's clock; absent while pending. */
  readonly appliedAt?: string
}

/** Long enough for an index over a large table, and still finite. */
const MAX_STATEMENT_MS = 3_600_000

type Run = (statement: string, ...parameters: unknown[]) => Promise<void>

/**
 * Applies and undoes changes of the schema, one process at a time.
 *
 * @example
 * ```ts
 * await using store = await openPglite()
 * const migrator = new Migrator(store.database)
 * console.log((await migrator.status()).every(({ state }) => state === 'applied')) // => true
 * console.log((await migrator.up()).length) // => 0
 * ```
 */
export class Migrator {
  readonly #database: Database
  readonly #wait: LockWait

  constructor(database: Database, wait: LockWait = {}) {
    this.#database = database
    this.#wait = wait
  }

  /**
   * Applies what is pending, all of it or nothing, and answers with its names. Functions are pending again when their
   * files have changed. Any number of processes may call it at once. Where nothing is pending it only reads, so a role
   * that may not change the schema can call it too.
   */
  async up(): Promise<readonly string[]> {
    if ((await this.#pending()).length === 0) return []
    return this.#locked(async (run, migrations, applied) => {
      refuseForeign(migrations, applied)
      const pending = migrations.filter((migration) => isPending(migration, applied))
      for (const { name, up, digest } of pending) {
        await make(run, name, up)
        await run(
          `insert into ${this.#ledger} (name, applied_at, digest) values ($1, clock_timestamp(), $2)
           on conflict (name) do update set applied_at = excluded.applied_at, digest = excluded.digest`,
          name,
          digest ?? null,
        )
      }
      return pending.map(({ name }) => name)
    })
  }

  /**
   * Undoes the newest changes, one unless told otherwise, and answers with their names. Their data is gone.
   *
   * @throws RangeError when the count is not a whole number from 1 (or `Infinity`, for all)
   */
  async down(count = 1): Promise<readonly string[]> {
    if (count !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(count) && count >= 1)) {
      throw new RangeError(`Say how many changes to undo, from 1; not ${count}`)
    }
    return this.#locked(async (run, migrations, applied) => {
      refuseForeign(migrations, applied)
      const standing = migrations.filter(({ name }) => applied.has(name))
      const undone = standing.slice(-count).reverse()
      for (const { name, down } of undone) {
        await make(run, name, down)
        await run(`delete from ${this.#ledger} where name = $1`, name)
      }
      return undone.map(({ name }) => name)
    })
  }

  /**
   * Where every change stands; changes nothing, not even by creating the schema. A schema of before the first release lacks
   * nothing, because nothing can be applied to it: all that it has is unknown.
   */
  async status(): Promise<readonly MigrationStatus[]> {
    const migrations = await readMigrations(this.#database.schema)
    const applied = await this.#appliedOrNone()
    const ours = migrations.map((migration): MigrationStatus => {
      const { name } = migration
      const standing = applied.get(name)
      if (standing === undefined || isPending(migration, applied)) return { name, state: 'pending' }
      return { name, state: 'applied', appliedAt: standing.at }
    })
    const unknown = unknownOf(migrations, applied).map((name): MigrationStatus => {
      return { name, state: 'unknown', appliedAt: applied.get(name)?.at ?? '' }
    })
    return isOldNumbering(applied.keys()) ? unknown : [...ours, ...unknown]
  }

  /** @throws StoreFailure unless the schema is exactly what this program knows */
  async check(): Promise<void> {
    const pending = await this.#pending()
    if (pending.length === 0) return
    const { schema } = this.#database
    const command = `baton migrate up${ofSchema(schema)}`
    throw new StoreFailure(
      'store.not_migrated',
      `The schema ${quotedName(schema)} lacks ${pending.join(', ')}. Run "${command}", or open with autoMigrate.`,
    )
  }

  /**
   * The statements that `up` would run, as one script; asks no database. For an empty database, or for one that has
   * every change up to a version and none after it.
   *
   * @throws RangeError when there is no such version
   */
  async sql(from?: string): Promise<string> {
    return offlineSql(this.#database.schema, from)
  }

  get #ledger(): string {
    return ledgerOf(this.#database.schema)
  }

  async #pending(): Promise<readonly string[]> {
    const migrations = await readMigrations(this.#database.schema)
    const applied = await this.#appliedOrNone()
    refuseForeign(migrations, applied)
    return migrations.filter((migration) => isPending(migration, applied)).map(({ name }) => name)
  }

  async #appliedOrNone(): Promise<Applied> {
    try {
      return await withRetry(() => this.#applied(this.#database.kysely))
    } catch (error) {
      throw toFailure(error)
    }
  }

  async #applied(kysely: Database['kysely']): Promise<Applied> {
    const ledger = CompiledQuery.raw('select to_regclass($1) is not null as exists', [this.#ledger])
    const found = await kysely.executeQuery<{ exists: boolean }>(ledger)
    if (found.rows[0]?.exists !== true) return new Map()
    const query = CompiledQuery.raw(
      // The digest by way of JSON: the table of an old store has no such column.
      `select name, to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
         to_jsonb(ledger) ->> 'digest' as digest
       from ${this.#ledger} ledger order by name`,
    )
    const { rows } = await kysely.executeQuery<{ name: string; at: string; digest: string | null }>(query)
    return new Map(rows.map(({ name, at, digest }) => [name, { at, digest }]))
  }

  /**
   * One transaction under a lock that ends with it, so that it works behind a transaction pooler too. A lock on a table is
   * waited for shortly, and everything is tried again: all who come behind a change that waits would wait as long.
   */
  async #locked(
    work: (run: Run, migrations: readonly Migration[], applied: Applied) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const { kysely, schema } = this.#database
    const migrations = await readMigrations(schema)
    const patience = new LockPatience(this.#wait.lockWaitMs)
    const once = () =>
      kysely.transaction().execute(async (transaction) => {
        const run: Run = async (statement, ...parameters) => {
          await transaction.executeQuery(CompiledQuery.raw(statement, parameters))
        }
        const set = (name: string, ms: number) => run(`select set_config($1, $2, true)`, name, String(ms))
        // For this transaction only: waiting for the others, and the work itself, may take longer than a query.
        await set('statement_timeout', MAX_STATEMENT_MS)
        await set('lock_timeout', patience.waitMs)
        await this.#takeTurn(transaction)
        await set('lock_timeout', patience.tryMs)
        await this.#makeLedger(transaction, run)
        return work(run, migrations, await this.#applied(transaction))
      })
    try {
      return await patience.through(once, this.#database, this.#wait)
    } catch (error) {
      throw toFailure(error)
    }
  }

  /** One process at a time changes a schema; the others wait, and keep nobody else waiting. */
  async #takeTurn(transaction: Database['kysely']): Promise<void> {
    const name = [lockName(this.#database.schema)]
    const tried = CompiledQuery.raw('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken', name)
    const { rows } = await transaction.executeQuery<{ taken: boolean }>(tried)
    if (rows[0]?.taken === true) return
    this.#wait.onWarning?.('Another process changes the same schema; this one waits for it.')
    await transaction.executeQuery(CompiledQuery.raw('select pg_advisory_xact_lock(hashtextextended($1, 0))', name))
  }

  /** Creates only what is missing: `if not exists` asks for the right to create even where nothing is to be done. */
  async #makeLedger(transaction: Database['kysely'], run: Run): Promise<void> {
    const { schema } = this.#database
    const question = 'select to_regnamespace($1) is not null as schema, to_regclass($2) is not null as ledger'
    const { rows } = await transaction.executeQuery<{ schema: boolean; ledger: boolean }>(
      CompiledQuery.raw(question, [quotedName(schema), this.#ledger]),
    )
    if (rows[0]?.schema !== true) await run(`create schema ${quotedName(schema)}`)
    if (rows[0]?.ledger !== true) for (const statement of statementsOf(ledgerSql(schema))) await run(statement)
  }
}

/** A failure here is the fault of the change, whatever the engine calls it; only a lost connection is not. */
const make = async (run: Run, name: string, change: string): Promise<void> => {
  try {
    for (const statement of statementsOf(change)) await run(statement)
  } catch (cause) {
    if (cause instanceof StoreFailure || isTransient(cause) || isContention(cause)) throw cause
    const detail = describeThrown(cause)
    throw new StoreFailure('store.failed', `Nothing was changed, because ${name} failed: ${detail}`, { cause })
  }
}

/** The flag that names a schema, unless it is the usual one. */
export const ofSchema = (schema: string): string => (schema === 'batonpass' ? '' : ` --schema ${shellWord(schema)}`)
