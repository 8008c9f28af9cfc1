import { CompiledQuery } from 'kysely'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { type OpenMigrator, openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import type { Database } from '../../src/adapters/postgres/statements/database.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'

/** The engines a schema must come out the same on. */
export const ENGINES = ['postgres', 'pglite'] as const

/** One of the engines. */
export type Engine = (typeof ENGINES)[number]

/** A new database on the server with nothing in it, by its address. It goes when the test run ends. */
export const emptyDatabase = async (): Promise<string> => {
  const { TEST_DATABASE_URL: url, TEST_DATABASE_PREFIX: prefix } = process.env
  if (url === undefined || prefix === undefined) throw new Error('No test databases: run through "npx vitest"')
  const name = `${prefix}empty_${process.pid}_${Math.floor(Math.random() * 2 ** 40).toString(36)}`
  await onServer(url, `create database ${name}`)
  return withDatabase(url, name)
}

/** The same database, reached through the pooler; `undefined` where there is none. */
export const throughPooler = (url: string): string | undefined => {
  const pooler = process.env.TEST_POOLER_URL
  return pooler === undefined ? undefined : withDatabase(pooler, new URL(url).pathname.slice(1))
}

/** An empty database and its migrator. */
export const openEmpty = async (engine: Engine, schema = 'batonpass'): Promise<OpenMigrator> =>
  openMigratorAt(engine === 'pglite' ? { schema } : { connectionString: await emptyDatabase(), schema })

/** Runs one statement in a database. */
export const ask = async <Row>(
  { kysely }: Database,
  statement: string,
  ...parameters: readonly unknown[]
): Promise<readonly Row[]> => (await kysely.executeQuery<Row>(CompiledQuery.raw(statement, [...parameters]))).rows

/** The schema as it was made when the test run began: whether the written snapshot is fresh is one test's business. */
export const expectedSnapshot = async (): Promise<string> => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await using opened = openMigratorAt({ connectionString })
  return await schemaSnapshot(opened.database)
}
