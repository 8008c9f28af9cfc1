import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { isConnectionLost } from './pg-errors.ts'

const ignore = (): void => {}

/**
 * A pool as Kysely wants it, that survives its connections.
 *
 * A client that breaks while it is checked out emits an error of its own, which ends the process unless somebody
 * listens; and a client whose query timed out on our side is still busy, so it must not go back to the pool.
 */
export const safePool = (pool: Pool): PostgresPool => ({
  connect: async () => checkedOut(await pool.connect()),
  // Whoever made the pool ends it.
  end: async () => {},
  options: {},
})

const checkedOut = (client: PoolClient): PostgresPoolClient => {
  let isBroken = false
  const onError = (): void => {
    isBroken = true
  }
  client.on('error', onError)
  const query = async (text: string, parameters: readonly unknown[]) => {
    try {
      return await client.query(text, [...parameters])
    } catch (error) {
      if (isConnectionLost(error)) isBroken = true
      throw error
    }
  }
  const release = (): void => {
    client.removeListener('error', onError)
    if (isBroken) client.on('error', ignore)
    client.release(isBroken)
  }
  return { query, release } as unknown as PostgresPoolClient
}
