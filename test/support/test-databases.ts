import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { startPooler } from './pooler.ts'
import { startServer } from './postgres-server.ts'

/** Everything a test run needs from outside, named by environment variables so that child processes find it too. */
export interface TestDatabases {
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const PREFIX = `batonpass_test_${process.pid}_`
const TEMPLATE = `${PREFIX}template`

/** One server, one pooler where there is one, one migrated template to clone, and one embedded store to load. */
export const startDatabases = async (): Promise<TestDatabases> => {
  // They would change every connection: a password, a search path, encryption that the server does not have.
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]
  const server = await startServer()
  const pooler = await startPooler(server.url)
  await onServer(server.url, `create database ${TEMPLATE}`)
  const template = await openPostgres({ connectionString: withDatabase(server.url, TEMPLATE), autoMigrate: true })
  await template[Symbol.asyncDispose]()
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-tests-'))
  const embedded = join(folder, 'pglite.tar')
  writeFileSync(embedded, await migratedEmbedded())
  const noPooler = 'none: PgBouncer is not installed, so nothing runs behind a pooler'
  console.log(`Postgres: ${server.source}. Pooler: ${pooler?.source ?? noPooler}.`)
  return {
    environment: {
      TEST_DATABASE_URL: server.url,
      TEST_DATABASE_TEMPLATE: TEMPLATE,
      TEST_DATABASE_PREFIX: PREFIX,
      TEST_PGLITE_DUMP: embedded,
      ...(pooler !== undefined && { TEST_POOLER_URL: pooler.url }),
    },
    stop: async () => {
      await dropDatabases(server.url)
      await pooler?.stop()
      await server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** A database of its own, cloned from the migrated template. */
export const cloneDatabase = async (): Promise<string> => {
  const { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: template, TEST_DATABASE_PREFIX: prefix } = process.env
  if (url === undefined || template === undefined || prefix === undefined) {
    throw new Error('No test databases: run through "npm test", "npx vitest" or "npm run with-postgres -- <command>"')
  }
  const name = `${prefix}${process.pid}_${Math.floor(Math.random() * 2 ** 40).toString(36)}`
  await onServer(url, `create database ${name} template ${template}`)
  return name
}

/** The same address with another database. */
export const withDatabase = (url: string, database: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** Runs one statement on the server. */
export const onServer = async (url: string, statement: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url })
  // A server that shuts down says so to whoever listens; the statement fails by itself.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

const dropDatabases = async (url: string): Promise<void> => {
  const found = await onServer(url, `select datname from pg_database where starts_with(datname, '${PREFIX}')`)
  for (const { datname } of found) await onServer(url, `drop database if exists ${String(datname)} with (force)`)
}

const migratedEmbedded = async (): Promise<Buffer> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-pglite-'))
  const store = await openPglite({ dataDir: join(folder, 'data') })
  await store[Symbol.asyncDispose]()
  const pglite = await PGlite.create(join(folder, 'data', 'data'))
  const dump = await pglite.dumpDataDir('none')
  await pglite.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  return Buffer.from(await dump.arrayBuffer())
}
