import { addressIn } from './adapters/postgres/address-file.ts'
import type { Addresses } from './adapters/postgres/servers/server-list.ts'
import { mustBeAddressed, mustBeSaid } from './adapters/postgres/store-address.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import { defined } from './domain/kernel/defined.ts'
import type { StoreOptions } from './options.ts'
import type { Store } from './ports/store.ts'
import { StoreFailure } from './ports/store-failure.ts'
import type { Clock } from './ports/system.ts'
import { hasStore, serviceFolder } from './service-folder.ts'

/** The folder of the embedded store unless another is named. */
export const DEFAULT_DATA_DIR = '.batonpass'

type Environment = Readonly<Record<string, string | undefined>>

/** The embedded store that is read when nobody names one: that of the working directory, else that of the service. */
export const folderToRead = (environment: Environment): string => {
  if (hasStore(DEFAULT_DATA_DIR)) return DEFAULT_DATA_DIR
  const { folder } = serviceFolder(environment)
  return hasStore(folder) ? folder : DEFAULT_DATA_DIR
}

/** Opens the store the options ask for. @throws StoreFailure when it cannot be opened, or an address says nothing */
export const openStore = async (options: StoreOptions & { readonly clock?: Clock } = {}): Promise<Store> => {
  const { store, schema, autoMigrate, pooled, mustExist, share, onWarning, readFrom, clock = systemClock } = options
  if (store === 'memory') return new (await import('./adapters/memory/memory-store.ts')).MemoryStore({ clock })
  if (store !== undefined) return store
  const { database, dataDir } = placeOf(options)
  const { openPglite, openPostgres } = await import('./postgres.ts')
  if (database === undefined) return openPglite(defined({ dataDir, schema, mustExist, share, onWarning }))
  return openPostgres(defined({ connectionString: database, readFrom, schema, autoMigrate, pooled, onWarning }))
}

/** The options that name a place. */
export const PLACES = ['database', 'databaseFile', 'dataDir'] as const

/** Refuses a place that is named and says nothing. @throws StoreFailure `store.bad_address` */
export const mustSayPlaces = (options: StoreOptions): void => {
  mustBeAddressed(options, 'database', 'Leave the option out to use the embedded store.')
  mustBeSaid(options, 'databaseFile', 'Leave the option out to use the embedded store.')
  mustBeAddressed(options, 'readFrom', 'Leave the option out to ask the store itself.')
  mustBeSaid(options, 'dataDir', `Leave the option out to use the folder ${DEFAULT_DATA_DIR}.`)
}

const NO_REPLICA =
  '"readFrom" names a standby, and an embedded store has none. Give "database" as well, or leave "readFrom" out.'

/** The place of the store. Without a name it is the embedded store; an empty name is a mistake. */
export const placeOf = (options: StoreOptions): { readonly database?: Addresses; readonly dataDir: string } => {
  mustSayPlaces(options)
  const { database, databaseFile, readFrom, dataDir = DEFAULT_DATA_DIR } = options
  if (readFrom !== undefined && (database ?? databaseFile) === undefined)
    throw new StoreFailure('store.bad_address', NO_REPLICA)
  if (databaseFile === undefined) return defined({ database, dataDir })
  if (database !== undefined)
    throw new StoreFailure('store.bad_address', 'Give "database" or "databaseFile", not both: they may differ.')
  return { database: addressIn(databaseFile), dataDir }
}
