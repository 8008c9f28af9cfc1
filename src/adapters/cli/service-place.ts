import type { StoreOptions } from '../../command-parts.ts'
import { serviceFolder, storeFolder } from '../../doctoring.ts'
import type { Invocation } from './command.ts'
import { storeOptions } from './store-options.ts'

/** Where the service and the store of a person are, and why there. */
export interface ServicePlace {
  /** The folder of the service, the spool and the cards of sessions. */
  readonly folder: string
  readonly store: StoreOptions
  /** Why it is this store, in a few words. */
  readonly why: string
}

/** The place that flags and variables choose. @throws UsageError when they contradict each other */
export const servicePlace = (invocation: Invocation): ServicePlace => {
  const { values, environment } = invocation
  const store = storeOptions(invocation)
  const service = serviceFolder(environment, store.dataDir)
  const { folder } = service
  if (store.database !== undefined || store.databaseFile !== undefined) {
    const flag = ['database', 'database-file'].find((name) => values[name] !== undefined)
    const variable = store.database === undefined ? 'DATABASE_URL_FILE' : 'DATABASE_URL'
    return { folder, store, why: `named by ${flag === undefined ? variable : `--${flag}`}` }
  }
  const chosen = storeFolder(service, process.cwd())
  return { folder, store: { ...store, dataDir: chosen.folder }, why: chosen.why }
}
