import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { defined } from '../../domain/kernel/defined.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { addressIn } from './address-file.ts'
import { homeStore } from './home-folder.ts'
import { serverName } from './server-name.ts'
import type { ChosenStore, StorePlace } from './store-rule.ts'

/** The service of a store: hooks and commands that choose the same store meet in the same folder. */
export interface ServicePlace {
  /** The folder of the service, the spool and the cards of sessions. */
  readonly folder: string
  /** The flags with which `baton serve` serves this store from this folder. An address in a variable is passed on by it. */
  readonly flags: Readonly<Record<string, string | undefined>>
}

/**
 * The service of a store that was chosen.
 *
 * @param around with the folder of the service, where one is named beside a server
 * @throws StoreFailure `store.bad_address` where the address of a server cannot be read
 */
export const serviceOf = (
  { place }: Pick<ChosenStore, 'place'>,
  around: {
    readonly environment: Environment
    readonly schema?: string | undefined
    readonly folder?: string | undefined
  },
): ServicePlace => {
  const { environment, schema } = around
  const folder = around.folder === undefined ? folderOf(place, environment, schema) : resolve(around.folder)
  return { folder, flags: serveFlags(place, folder, schema) }
}

/**
 * The folder of a store's service. That of an embedded store is the store's own; that of a server is made from the place of
 * the server, so that the services of two stores never mix.
 */
const folderOf = (place: StorePlace, environment: Environment, schema: string | undefined): string => {
  if ('dataDir' in place) return resolve(place.dataDir)
  const {
    host,
    port,
    database,
    schema: inSchema,
  } = serverName('database' in place ? place.database : addressIn(place.databaseFile), schema)
  const digest = createHash('sha256')
    .update(JSON.stringify([host, port, database, inSchema]))
    .digest('hex')
  const readable = database.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 20)
  return join(homeStore(environment), 'servers', `${readable}-${digest.slice(0, 12)}`)
}

/** An address stands in no flag, where others could see it. */
const serveFlags = (place: StorePlace, folder: string, schema: string | undefined): ServicePlace['flags'] => {
  if ('dataDir' in place) return defined({ 'data-dir': folder, schema })
  if ('databaseFile' in place)
    return defined({ 'data-dir': folder, 'database-file': resolve(place.databaseFile), schema })
  return defined({ schema })
}
