import { Kysely } from 'kysely'
import { defined } from '../../domain/kernel/defined.ts'
import { PgliteDialect } from './embedded/pglite-dialect.ts'
import { openInMemory } from './embedded/pglite-folder.ts'
import { SharedDialect } from './embedded/shared-dialect.ts'
import { SharedFolder } from './embedded/shared-folder.ts'
import { Migrator } from './migrate/migrator.ts'
import type { WaitLimits } from './open/safe-pool.ts'
import type { Addresses } from './open/server-list.ts'
import { openServerPool } from './open/server-pool.ts'
import type { Database, Schema } from './statements/database.ts'

/** Which schema to migrate: on a server, in the folder of an embedded store, or else in memory. */
export interface MigratorOptions {
  readonly connectionString?: Addresses
  readonly dataDir?: string
  readonly mustExist?: boolean
  readonly schema?: string
  readonly share?: boolean
  /** How long to wait for locks on tables that others use; 5 minutes unless given. */
  readonly lockWaitMs?: number
  readonly onWarning?: (message: string) => void
}

/** A migrator, and the database it has for as long as it is open. */
export interface OpenMigrator extends AsyncDisposable {
  readonly migrator: Migrator
  readonly database: Database
}

/** Above the longest statement the migrator allows the server, so that the server is the one to give up. */
const WAIT_LIMITS: WaitLimits = { connectMs: 5_000, answerMs: 3_900_000 }

/** Opens a schema for migrating, whatever stands there. Nothing is connected to before the first question. */
export const openMigratorAt = (options: MigratorOptions): OpenMigrator => {
  const { connectionString, schema = 'batonpass', lockWaitMs, onWarning } = options
  const { dialect, close } = connectionString === undefined ? embedded(options) : server(connectionString)
  const kysely = new Kysely<Schema>({ dialect }).withSchema(schema)
  const database = { kysely, schema }
  return {
    migrator: new Migrator(database, defined({ lockWaitMs, onWarning })),
    database,
    [Symbol.asyncDispose]: async () => {
      await kysely.destroy()
      await close()
    },
  }
}

/** By the same way as the store itself: nothing is opened that another process has. */
const embedded = ({ dataDir, mustExist, share, onWarning }: MigratorOptions) => ({
  dialect:
    dataDir === undefined
      ? new PgliteDialect(() => openInMemory({}))
      : new SharedDialect(new SharedFolder(dataDir, defined({ mustExist, share, onWarning }))),
  close: async () => {},
})

/** No settings at connect time: the migrator makes its own for each transaction, and a pooler would refuse them. */
const server = (addresses: Addresses) =>
  openServerPool(addresses, { use: 'writing', waits: WAIT_LIMITS, isDirect: false, config: { max: 1 } })
