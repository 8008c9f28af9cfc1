import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { defined } from '../../domain/kernel/defined.ts'
import type { Database, Schema } from './database.ts'
import { Migrator } from './migrator.ts'
import { PgliteDialect } from './pglite-dialect.ts'
import { openFolder, openInMemory } from './pglite-folder.ts'
import { type BoundedWait, safePool } from './safe-pool.ts'
import { checkedAddress } from './store-address.ts'

/** Which schema to migrate: on a server, in the folder of an embedded store, or else in memory. */
export interface MigratorOptions {
  readonly connectionString?: string
  readonly dataDir?: string
  readonly mustExist?: boolean
  readonly schema?: string
  readonly onWarning?: (message: string) => void
}

/** A migrator, and the database it has for as long as it is open. */
export interface OpenMigrator extends AsyncDisposable {
  readonly migrator: Migrator
  readonly database: Database
}

/** Above the longest statement the migrator allows the server, so that the server is the one to give up. */
const PATIENCE: BoundedWait = { connectMs: 5_000, answerMs: 3_900_000 }

/** Opens a schema for migrating, whatever stands there. Nothing is connected to before the first question. */
export const openMigratorAt = (options: MigratorOptions): OpenMigrator => {
  const { connectionString, schema = 'batonpass' } = options
  const { dialect, close } =
    connectionString === undefined ? embedded(options) : server(checkedAddress(connectionString))
  const kysely = new Kysely<Schema>({ dialect }).withSchema(schema)
  const database = { kysely, schema }
  return {
    migrator: new Migrator(database),
    database,
    [Symbol.asyncDispose]: async () => {
      await kysely.destroy()
      await close()
    },
  }
}

/** Under the same lock as the store itself. */
const embedded = ({ dataDir, mustExist, onWarning }: MigratorOptions) => {
  let release = (): void => {}
  const open = async () => {
    if (dataDir === undefined) return openInMemory({})
    const { pglite, lock } = await openFolder(dataDir, defined({ mustExist, onWarning }))
    release = () => lock.release()
    return pglite
  }
  return { dialect: new PgliteDialect(open), close: async () => release() }
}

/** No settings at connect time: the migrator makes its own for each transaction, and a pooler would refuse them. */
const server = (connectionString: string) => {
  const pool = new pg.Pool({ connectionString, max: 1, keepAlive: true })
  // An idle connection may break at any time; the pool drops it and opens another.
  pool.on('error', () => {})
  return {
    dialect: new PostgresDialect({ pool: safePool(pool, { patience: PATIENCE, isDirect: false }) }),
    close: () => pool.end(),
  }
}
