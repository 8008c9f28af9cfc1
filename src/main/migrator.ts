import { type OpenMigrator, openMigratorAt } from '../adapters/postgres/open-migrator.ts'
import { defined } from '../domain/kernel/defined.ts'
import { placeOf } from './open-store.ts'
import type { StoreOptions } from './options.ts'

/** Opens the schema the options choose for migrating, whatever stands there: unlike a store it is not looked at. */
export const openMigrator = (
  options: Pick<
    StoreOptions,
    'database' | 'databaseFile' | 'dataDir' | 'schema' | 'mustExist' | 'share' | 'onWarning'
  > & { readonly lockWaitMs?: number } = {},
): OpenMigrator => {
  const { database, dataDir } = placeOf(options)
  const { schema, mustExist, share, onWarning, lockWaitMs } = options
  return openMigratorAt(
    defined({ connectionString: database, dataDir, schema, mustExist, share, onWarning, lockWaitMs }),
  )
}
