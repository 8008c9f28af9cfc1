import { realpathSync } from 'node:fs'
import { type KnownServer, type KnownStore, knownStores } from '../adapters/place/known-stores.ts'
import { serverName } from '../adapters/place/server-name.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { Store } from '../ports/store/store.ts'
import type { Environment } from '../ports/system/environment.ts'
import { storePlaceIn } from './open-store.ts'
import type { StoreOptions } from './options.ts'

/** How long one store among many may take to let us in, and to answer: nobody waits for one that is down. */
const [CONNECT_MS, ANSWER_MS] = [5_000, 5_000]

/** The stores that this person has opened, without the one that was chosen, by the options that open each. */
export const otherStores = (chosen: StoreOptions, environment: Environment): readonly StoreOptions[] => {
  const chosenMark = markOf(chosen)
  return knownStores(environment)
    .map(optionsOf)
    .filter((options) => markOf(options) !== chosenMark)
}

/**
 * Opens a store that is one of many, to ask it something: none is made, no schema is changed, and one that does not
 * answer is not waited for long. A server gets a password from the environment or the password file only.
 *
 * @throws StoreFailure that says why it cannot be asked
 */
export const openToAsk = async (options: StoreOptions): Promise<Store> => {
  const { schema } = options
  const { database, dataDir } = storePlaceIn(options)
  if (database === undefined) {
    const { openPglite } = await import('../adapters/postgres/embedded/open-pglite.ts')
    const asItIs = { mustExist: true, autoMigrate: false, patienceMs: CONNECT_MS, share: true }
    return openPglite(defined({ dataDir, schema, ...asItIs }))
  }
  const { openPostgres } = await import('../adapters/postgres/open/open-postgres.ts')
  const waits = { connectTimeoutMs: CONNECT_MS, statementTimeoutMs: ANSWER_MS, queryTimeoutMs: ANSWER_MS + 1_000 }
  return openPostgres(defined({ connectionString: database, schema, maxConnections: 1, ...waits }))
}

const optionsOf = (listed: KnownStore): StoreOptions => {
  if (listed.kind === 'folder') return { dataDir: listed.path }
  const place = listed.file === undefined ? { database: addressOf(listed) } : { databaseFile: listed.file }
  return { ...place, schema: listed.schema }
}

/** The address of a server of the list, which has no password in it. */
const addressOf = ({ host, port, database, user }: KnownServer): string => {
  const role = user === undefined ? '' : `${encodeURIComponent(user)}@`
  if (host.startsWith('/'))
    return role === '' ? `${host} ${database}` : `socket://${role}${host}?db=${encodeURIComponent(database)}`
  const ports = port.split(',')
  const hosts = host.split(',').map((name, at) => `${name.includes(':') ? `[${name}]` : name}:${ports[at] ?? ports[0]}`)
  return `postgres://${role}${hosts.join(',')}/${encodeURIComponent(database)}`
}

/** The same for two that lead to one store. One that cannot be told is only itself. */
const markOf = (options: StoreOptions): string => {
  try {
    const { database, dataDir } = storePlaceIn(options)
    return database === undefined
      ? realpathSync(dataDir ?? '')
      : JSON.stringify(Object.entries(serverName(database, options.schema)).sort())
  } catch {
    return JSON.stringify(options)
  }
}
