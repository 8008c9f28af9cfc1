import { addressIn } from '../adapters/place/address-file.ts'
import { rememberStore } from '../adapters/place/known-stores.ts'
import type { openPglite } from '../adapters/postgres/embedded/open-pglite.ts'
import type { openPostgres } from '../adapters/postgres/open/open-postgres.ts'
import type { Addresses } from '../adapters/postgres/open/server-list.ts'
import { mustBeAddressed, mustBeSaid } from '../adapters/postgres/open/store-address.ts'
import type { OpenMigrator } from '../adapters/postgres/open-migrator.ts'
import { systemClock } from '../adapters/system/system-clock.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { Store } from '../ports/store/store.ts'
import { StoreFailure } from '../ports/store/store-failure.ts'
import type { Clock } from '../ports/system/system.ts'
import type { StoreOptions } from './options.ts'

/** Opens the store the options ask for. @throws StoreFailure when it cannot be opened, or an address says nothing */
export const openStore = async (options: StoreOptions & { readonly clock?: Clock } = {}): Promise<Store> => {
  const { store, schema, autoMigrate, pooled, mustExist, share, onWarning, readFrom, clock = systemClock } = options
  if (store === 'memory') return new (await import('../adapters/memory/memory-store.ts')).MemoryStore({ clock })
  if (store !== undefined) return store
  const { database, dataDir } = storePlaceIn(options)
  const opened = await (database === undefined
    ? embedded(defined({ dataDir, schema, mustExist, share, onWarning }))
    : onServer(defined({ connectionString: database, readFrom, schema, autoMigrate, pooled, onWarning })))
  rememberStore(process.env, defined({ database, dataDir, databaseFile: options.databaseFile, schema }))
  return opened
}

// Each is loaded when it is opened: a program on a server needs no engine, and one without a server needs no pool.
const embedded: typeof openPglite = async (options) =>
  (await import('../adapters/postgres/embedded/open-pglite.ts')).openPglite(options)
const onServer: typeof openPostgres = async (options) =>
  (await import('../adapters/postgres/open/open-postgres.ts')).openPostgres(options)

/** The options that name a place. */
export const PLACES = ['database', 'databaseFile', 'dataDir'] as const

/** Refuses a place that is named and says nothing. @throws StoreFailure `store.bad_address` */
export const mustSayPlaces = (options: StoreOptions): void => {
  mustBeAddressed(options, 'database', USUAL)
  mustBeSaid(options, 'databaseFile', USUAL)
  mustBeAddressed(options, 'readFrom', 'Leave the option out to ask the store itself.')
  mustBeSaid(options, 'dataDir', USUAL)
}

const USUAL = 'Leave the option out to use the store that the rule chooses.'

const NO_REPLICA =
  '"readFrom" names a standby, and an embedded store has none. Give "database" as well, or leave "readFrom" out.'

/** The place of the store: a server or a folder. @throws StoreFailure `store.bad_address` where none is named, or two are */
export const storePlaceIn = (options: StoreOptions): { readonly database?: Addresses; readonly dataDir?: string } => {
  mustSayPlaces(options)
  const { database, databaseFile, readFrom, dataDir } = options
  if (readFrom !== undefined && (database ?? databaseFile) === undefined)
    throw new StoreFailure('store.bad_address', NO_REPLICA)
  if (database !== undefined && databaseFile !== undefined)
    throw new StoreFailure('store.bad_address', 'Give "database" or "databaseFile", not both: they may differ.')
  if (database !== undefined || databaseFile !== undefined)
    return { database: database ?? addressIn(databaseFile ?? '') }
  if (dataDir === undefined) throw new StoreFailure('store.bad_address', 'No store is named.')
  return { dataDir }
}

/** Opens the schema the options choose for migrating, whatever stands there: unlike a store it is not looked at. */
export const openMigrator = async (
  options: Pick<
    StoreOptions,
    'database' | 'databaseFile' | 'dataDir' | 'schema' | 'mustExist' | 'share' | 'onWarning'
  > & { readonly lockWaitMs?: number } = {},
): Promise<OpenMigrator> => {
  const { openMigratorAt } = await import('../adapters/postgres/open-migrator.ts')
  const { database, dataDir } = storePlaceIn(options)
  const { schema, mustExist, share, onWarning, lockWaitMs } = options
  return openMigratorAt(
    defined({ connectionString: database, dataDir, schema, mustExist, share, onWarning, lockWaitMs }),
  )
}
