import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { StoreFailure } from '../../ports/store-failure.ts'
import { isConnectionLost, metBy } from './pg-errors.ts'

/** How long to wait, in milliseconds. */
export interface WaitLimits {
  /** For a connection. */
  readonly connectMs: number
  /** For an answer. */
  readonly answerMs: number
}

/** How to speak to a server. */
export interface PoolManners {
  readonly waits: WaitLimits
  /** Statements keep their plans by name, which a transaction pooler does not allow. */
  readonly isDirect: boolean
  /** Goes around each question, such as to say that its answer takes long. */
  readonly asking?: Around
}

/** Does some work, and something before or after it. */
export type Around = <T>(work: () => Promise<T>) => Promise<T>

const ignore = (): void => {}

/** The same text has the same name. Queries over history vary in their filters, so the names are many but few enough. */
const MOST_NAMES = 500
const names = new Map<string, string>()

const nameOf = (text: string): string | undefined => {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST_NAMES) return known
  const name = `batonpass_${names.size}`
  names.set(text, name)
  return name
}

/**
 * A pool as Kysely wants it, that survives its connections and never waits for ever.
 *
 * A client that breaks while it is checked out emits an error of its own, which ends the process unless somebody
 * listens; and a client that did not answer in time is still busy, so it must not go back to the pool.
 */
export const safePool = (pool: Pool, manners: PoolManners): PostgresPool => ({
  connect: () => connected(pool, manners),
  // The caller that made the pool ends it.
  end: async () => {},
})

const connected = async (pool: Pool, manners: PoolManners): Promise<PostgresPoolClient> => {
  if (pool.ending) throw new StoreFailure('store.failed', 'The store is closed')
  const connecting = { late: false }
  const connect = (): Promise<PostgresPoolClient> =>
    new Promise((resolve, reject) => {
      takeFrom(pool, reject, (client) => {
        const taken = checkedOut(client, manners)
        if (connecting.late) taken.release()
        else resolve(taken)
      })
    })
  return within(manners.waits.connectMs, connect, () => {
    connecting.late = true
    return 'The database gave no connection'
  })
}

/**
 * Takes a client by callback: it is called in the same moment in which the pool stops listening to the client. A promise
 * is answered a moment later, and a server that shuts down in between (its last words come in the packet that made the
 * client ready) would end the process.
 */
const takeFrom = (pool: Pool, fail: (error: unknown) => void, take: (client: PoolClient) => void): void => {
  const answer: unknown = pool.connect((error, client) => (client === undefined ? fail(error) : take(client)))
  // A caller's pool may be of a kind of its own, which answers with a promise only.
  if (answer instanceof Promise) answer.then((client?: PoolClient) => client && take(client), fail)
}

const plainly: Around = (work) => work()

const checkedOut = (client: PoolClient, { waits, isDirect, asking = plainly }: PoolManners): PostgresPoolClient => {
  let isBroken = false
  const onError = (): void => {
    isBroken = true
  }
  client.on('error', onError)
  const query = (text: string, parameters: readonly unknown[]) => asking(() => answered(text, parameters))
  const answered = async (text: string, parameters: readonly unknown[]) => {
    const values = [...parameters]
    const ask = async () =>
      client.query(isDirect && values.length > 0 ? { name: nameOf(text), text, values } : { text, values })
    try {
      return await within(waits.answerMs, ask, () => {
        isBroken = true
        return 'The database gave no answer'
      })
    } catch (error) {
      metBy(error, (client as { readonly user?: string }).user)
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

/**
 * Waits so long and no longer. A failure of our own, so that it is not mistaken for one that passes within
 * milliseconds: a caller that has waited this long gets the failure, and may try the same command again.
 */
const within = async <T>(milliseconds: number, work: () => Promise<T>, giveUp: () => string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new StoreFailure('store.unavailable', `${giveUp()} within ${milliseconds} ms. Try again.`))
    }, milliseconds)
  })
  try {
    return await Promise.race([late, work()])
  } finally {
    clearTimeout(timer)
  }
}
