import { CompiledQuery } from 'kysely'
import { StoreFailure } from '../../ports/store-failure.ts'
import { type Database, quoted, withRetry } from './database.ts'
import { type Migration, readMigrations } from './migration-files.ts'
import { toFailure } from './pg-errors.ts'
import { statementsOf } from './sql-statements.ts'

/** Where each change stands. */
export interface MigrationStatus {
  readonly name: string
  /** `unknown` means the database has a change this program does not know: it is newer. */
  readonly state: 'applied' | 'pending' | 'unknown'
}

/** Applies and undoes changes of the schema, one process at a time. */
export class Migrator {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Applies what is pending and answers with its names. Any number of processes may call it at once. */
  async up(): Promise<readonly string[]> {
    return this.#locked(async (run, migrations, applied) => {
      this.#refuseNewer(migrations, applied)
      const pending = migrations.filter(({ name }) => !applied.includes(name))
      for (const { name, up } of pending) {
        for (const statement of statementsOf(up)) await run(statement)
        await run(`insert into ${this.#table} (name, applied_at) values ($1, clock_timestamp())`, name)
      }
      return pending.map(({ name }) => name)
    })
  }

  /** Undoes the newest changes, one unless told otherwise, and answers with their names. Their data is gone. */
  async down(count = 1): Promise<readonly string[]> {
    return this.#locked(async (run, migrations, applied) => {
      this.#refuseNewer(migrations, applied)
      const undone = migrations
        .filter(({ name }) => applied.includes(name))
        .slice(-count)
        .reverse()
      for (const { name, down } of undone) {
        for (const statement of statementsOf(down)) await run(statement)
        await run(`delete from ${this.#table} where name = $1`, name)
      }
      return undone.map(({ name }) => name)
    })
  }

  /** Where every change stands; changes nothing, not even by creating the schema. */
  async status(): Promise<readonly MigrationStatus[]> {
    const migrations = await readMigrations(this.#database.schema)
    const applied = await this.#appliedOrNone()
    const known = migrations.map(
      ({ name }) => ({ name, state: applied.includes(name) ? 'applied' : 'pending' }) as const,
    )
    const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
    return [...known, ...unknown.map((name) => ({ name, state: 'unknown' }) as const)]
  }

  /** @throws StoreFailure unless the schema is exactly what this program knows */
  async check(): Promise<void> {
    const status = await this.status()
    this.#refuseNewer(
      await readMigrations(this.#database.schema),
      status.filter(({ state }) => state !== 'pending').map(({ name }) => name),
    )
    const pending = status.filter(({ state }) => state === 'pending')
    if (pending.length > 0) {
      const names = pending.map(({ name }) => name).join(', ')
      throw new StoreFailure(
        'store.not_migrated',
        `The database lacks ${names}. Run "baton migrate up", or open with autoMigrate.`,
      )
    }
  }

  get #table(): string {
    return `${quoted(this.#database.schema)}.migrations`
  }

  #refuseNewer(migrations: readonly Migration[], applied: readonly string[]): void {
    const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
    if (unknown.length === 0) return
    throw new StoreFailure(
      'store.newer_schema',
      `The database has ${unknown.join(', ')}, which this program does not know. Use a newer version of Batonpass.`,
    )
  }

  async #appliedOrNone(): Promise<readonly string[]> {
    const { kysely } = this.#database
    try {
      const exists = CompiledQuery.raw('select to_regclass($1)::text as name', [this.#table])
      const { rows } = await withRetry(() => kysely.executeQuery<{ name: string | null }>(exists))
      if (rows[0]?.name === null) return []
      return await this.#applied(kysely)
    } catch (error) {
      throw toFailure(error)
    }
  }

  async #applied(kysely: Database['kysely']): Promise<readonly string[]> {
    const query = CompiledQuery.raw(`select name from ${this.#table} order by name`)
    const { rows } = await kysely.executeQuery<{ name: string }>(query)
    return rows.map(({ name }) => name)
  }

  /** One transaction under a lock that ends with it, so that it works behind a transaction pooler too. */
  async #locked(
    work: (
      run: (statement: string, ...parameters: unknown[]) => Promise<void>,
      migrations: readonly Migration[],
      applied: readonly string[],
    ) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const { kysely, schema } = this.#database
    const migrations = await readMigrations(schema)
    try {
      return await kysely.transaction().execute(async (transaction) => {
        const run = async (statement: string, ...parameters: unknown[]): Promise<void> => {
          await transaction.executeQuery(CompiledQuery.raw(statement, parameters))
        }
        await run(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, `batonpass migrations ${schema}`)
        await run(`create schema if not exists ${quoted(schema)}`)
        await run(`create table if not exists ${this.#table} (
          name text not null, applied_at timestamptz not null, constraint migrations_pkey primary key (name))`)
        return work(run, migrations, await this.#applied(transaction))
      })
    } catch (error) {
      throw toFailure(error)
    }
  }
}

/** What `up` would do to an empty database, as one script for people who run SQL by hand. */
export const offlineSql = async (schema: string): Promise<string> => {
  const migrations = await readMigrations(schema)
  const table = `${quoted(schema)}.migrations`
  return [
    'begin;',
    `create schema if not exists ${quoted(schema)};`,
    `create table if not exists ${table} (name text not null, applied_at timestamptz not null, constraint migrations_pkey primary key (name));`,
    ...migrations.map(
      ({ name, up }) => `\n-- ${name}\n${up.trim()}\ninsert into ${table} values ('${name}', clock_timestamp());`,
    ),
    '\ncommit;',
  ].join('\n')
}
