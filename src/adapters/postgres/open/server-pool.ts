import { PostgresDialect } from 'kysely'
import pg, { type ClientConfig, type PoolConfig } from 'pg'
import { safePool, type WaitLimits } from './safe-pool.ts'
import { clientOf, type ServerClient } from './server-client.ts'
import { type Addresses, serverList } from './server-list.ts'
import { ServerSearch } from './server-search.ts'
import type { Use } from './session-kind.ts'

/** A pool of connections to the one server of a list that is wanted. */
export interface ServerPool {
  readonly dialect: PostgresDialect
  /** A client to that server, not connected yet, for listening; it is told when connections lead elsewhere. */
  client(moved: () => void, config: ClientConfig): Promise<ServerClient>
  close(): Promise<void>
}

/** The use of the connections, and how they are made. */
export interface ServerPoolSettings {
  readonly use: Use
  readonly waits: WaitLimits
  readonly isDirect: boolean
  readonly config: PoolConfig
}

/**
 * Makes the pool. Nothing is connected to before the first question.
 *
 * @throws StoreFailure `store.bad_address`
 */
export const openServerPool = (
  addresses: Addresses,
  { use, waits, isDirect, config }: ServerPoolSettings,
): ServerPool => {
  const search = new ServerSearch(serverList(addresses, use), { waitMs: waits.connectMs })
  const Client = clientOf(search)
  const connecting = { connectionTimeoutMillis: waits.connectMs, keepAlive: true }
  const pool = new pg.Pool({ ...connecting, ...config, Client })
  // An idle connection may break at any time; the pool drops it and opens another.
  pool.on('error', (_, client) => search.doubt((client as unknown as ServerClient).server))
  return {
    dialect: new PostgresDialect({ pool: safePool(pool, { waits, isDirect, search }) }),
    client: async (moved, more) => {
      await search.find()
      const client = new Client({ ...connecting, ...more })
      const watch = search.whenElsewhere(client.server, moved)
      client.once('end', () => watch[Symbol.dispose]())
      return client
    },
    close: async () => {
      if (!pool.ending) await pool.end()
    },
  }
}
