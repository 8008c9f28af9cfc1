import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { PgliteDialect } from '../src/adapters/postgres/embedded/pglite-dialect.ts'
import { Migrator } from '../src/adapters/postgres/migrate/migrator.ts'
import { openPostgres } from '../src/adapters/postgres/open/open-postgres.ts'
import { SqlStore } from '../src/adapters/postgres/open/sql-store.ts'
import { HandoffHistory, HandoffService, systemClock, uuidV7Ids } from '../src/entry/container.ts'
import type { Store } from '../src/entry/ports.ts'
import { onServer, withDatabase } from '../test/support/test-databases.ts'
import { floor } from './floor/floor.ts'
import type { Run } from './floor/statement.ts'
import { ours, type Services } from './ours.ts'
import type { Side } from './seat.ts'

/** Both sides on one engine, with a way to look at what they left there. */
export interface Engine {
  readonly name: 'postgres' | 'pglite'
  readonly ours: Side
  readonly floor: Side
  /** Where ours keeps everything. */
  readonly store: Store
  ask(question: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

/** Which schema a side writes to. */
export const SCHEMAS = { ours: 'batonpass', floor: 'floor' } as const

const CONNECTIONS = 32

const serviceOn = (store: Store): Services => ({
  service: new HandoffService({ store, clock: systemClock, ids: uuidV7Ids }),
  history: new HandoffHistory({ store }),
})

/** A database of its own on a server: the library in one schema, the floor in another, as many connections for each. */
export const onPostgres = async (server: string): Promise<Engine> => {
  const database = `batonpass_bench_${process.pid}`
  await onServer(server, `create database ${database}`)
  const connectionString = withDatabase(server, database)
  const options = { connectionString, autoMigrate: true, maxConnections: CONNECTIONS }
  const store = await openPostgres({ ...options, schema: SCHEMAS.ours })
  const opener = await openPostgres({ ...options, schema: SCHEMAS.floor })
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS })
  // A connection may end with its database.
  pool.on('error', () => {})
  const run: Run = async (name, text, values) =>
    (await pool.query<Record<string, unknown>>({ name, text, values })).rows
  return {
    name: 'postgres',
    store,
    ours: ours(serviceOn(store)),
    floor: floor(serviceOn(opener), SCHEMAS.floor, run),
    ask: async (question) => (await pool.query<Record<string, unknown>>(question)).rows,
    close: async () => {
      await pool.end()
      await opener[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await onServer(server, `drop database ${database} with (force)`)
    },
  }
}

/** One embedded database on disk, with a schema for each side. */
export const onPglite = async (): Promise<Engine> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-bench-'))
  const pglite = await PGlite.create(join(folder, 'data'))
  const run: Run = async (_, text, values) => (await pglite.query<Record<string, unknown>>(text, values)).rows
  const store = await embeddedStore(pglite, SCHEMAS.ours)
  return {
    name: 'pglite',
    store,
    ours: ours(serviceOn(store)),
    floor: floor(serviceOn(await embeddedStore(pglite, SCHEMAS.floor)), SCHEMAS.floor, run),
    ask: async (question) => (await pglite.query<Record<string, unknown>>(question)).rows,
    close: async () => {
      await pglite.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const embeddedStore = async (pglite: PGlite, schema: string): Promise<Store> => {
  const store = new SqlStore(new PgliteDialect(pglite), { schema, close: async () => {} })
  await new Migrator(store.database).up()
  return store
}
