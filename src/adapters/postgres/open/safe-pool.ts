import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { isConnectionLost, metBy } from '../statements/pg-errors.ts'
import type { ServerClient } from './server-client.ts'
import { FACTS_QUESTION, sessionFacts } from './server-facts.ts'
import type { ServerSearch } from './server-search.ts'
import { misfit } from './session-kind.ts'

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
  /** Knows the server that connections must lead to. A caller's own pool leads where it leads. */
  readonly search?: ServerSearch
}

/** Does some work, and something before or after it. */
export type Around = <T>(work: () => Promise<T>) => Promise<T>

const ignore = (): void => {}

/** The same text has the same name. Queries over history vary in their filters, so the names are many but few enough. */
const MOST_NAMES = 500
const names = new Map<string, string>()

const nameOf = (text: string): string | undefined => {
  const given = names.get(text)
  if (given !== undefined || names.size >= MOST_NAMES) return given
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
  const { search } = manners
  if (search?.isChoice !== true) return taken(pool, manners)
  for (let failures = 0; ; ) {
    mustBeOpen(pool)
    const server = await search.find()
    try {
      const client = await wanted(await taken(pool, manners), search)
      // What the pool has may lead to a server that was lost; those connections are dropped one by one.
      if (client !== undefined) return client
    } catch (error) {
      failures += 1
      // The server was in order when it was last looked at. If that is no longer so, the next look says what is.
      if (!isConnectionLost(error) || search.isCurrent(server) || failures === MOST_FAILURES) throw error
    }
  }
}

/** A server that lets a look in and no more, such as one without free connections, is not looked at for ever. */
const MOST_FAILURES = 3

const mustBeOpen = (pool: Pool): void => {
  if (pool.ending) throw new StoreFailure('store.failed', 'The store is closed')
}

/** A client, and what is known of its connection. */
interface CheckedOut extends PostgresPoolClient {
  readonly client: PoolClient
  /** Makes sure that the connection is not used again. */
  spoil(): void
}

const taken = async (pool: Pool, manners: PoolManners): Promise<CheckedOut> => {
  mustBeOpen(pool)
  const connecting = { late: false }
  const connect = (): Promise<CheckedOut> =>
    new Promise((resolve, reject) => {
      takeFrom(pool, reject, (client) => {
        const given = checkedOut(client, manners)
        if (connecting.late) given.release()
        else resolve(given)
      })
    })
  return within(manners.waits.connectMs, connect, () => {
    connecting.late = true
    return 'The database gave no connection'
  })
}

/** Connections that were asked what they may do. */
const looked = new WeakSet<object>()

/** The connection, if it leads to the server that is wanted; else it is dropped. A new one is asked: its server may have changed. */
const wanted = async (taken: CheckedOut, search: ServerSearch): Promise<PostgresPoolClient | undefined> => {
  const { client } = taken
  const { server } = client as unknown as ServerClient
  try {
    if (search.isCurrent(server) && !looked.has(client)) {
      const { rows } = await taken.query<Record<string, unknown>>(FACTS_QUESTION, [])
      if (misfit(search.wanted, sessionFacts(rows)) !== undefined) search.doubt(server)
      looked.add(client)
    }
  } catch (error) {
    taken.release()
    throw error
  }
  if (search.isCurrent(server)) return taken
  taken.spoil()
  taken.release()
  return undefined
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

const checkedOut = (client: PoolClient, { waits, isDirect, search, asking = plainly }: PoolManners): CheckedOut => {
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
    if (isBroken) {
      client.on('error', ignore)
      search?.doubt((client as unknown as ServerClient).server)
    }
    client.release(isBroken)
  }
  const spoil = (): void => {
    isBroken = true
  }
  return { client, query, release, spoil } as unknown as CheckedOut
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
