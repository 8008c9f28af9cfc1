import { type Driver, PostgresDriver } from 'kysely'
import { type Around, safePool } from '../open/safe-pool.ts'
import { foundDoorFolder } from './door/door-place.ts'
import type { LockHolder } from './pglite-holder.ts'

/** A way to the store in a folder: the engine itself, or the door of the process that has it. */
export interface FolderWay {
  readonly driver: Driver
  /** The process that has the engine; nothing when it is this one. */
  readonly holder?: LockHolder
  /** More than once is fine. */
  close(): Promise<void>
}

/** The engine does one thing at a time; more connections would only wait there instead of here. */
const MOST_CONNECTIONS = 4

/** The way through a holder's door. Nothing when it has none, or none that is safe to go through. */
export const wayThrough = async (
  store: string,
  holder: LockHolder,
  asking: Around,
  patienceMs: number,
): Promise<FolderWay | undefined> => {
  const folder = holder.door === undefined ? undefined : foundDoorFolder(store, holder.door)
  if (folder === undefined) return undefined
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    // Each of these is said, because what is not is looked for in the environment.
    host: folder,
    port: 5432,
    user: 'postgres',
    database: 'postgres',
    password: '',
    ssl: false,
    max: MOST_CONNECTIONS,
    // A pool that is closed waits for connections that are being made; a holder that is stopped would never let them in.
    connectionTimeoutMillis: patienceMs,
    // As with an engine of its own, a process that is done may end without closing the store.
    allowExitOnIdle: true,
  })
  // An idle connection breaks when the holder ends; the next one finds out who has the folder then.
  pool.on('error', () => {})
  const waits = { connectMs: patienceMs, answerMs: patienceMs }
  const driver = new PostgresDriver({ pool: safePool(pool, { waits, isDirect: false, asking }) })
  await driver.init()
  let closing: Promise<void> | undefined
  return { driver, holder, close: () => (closing ??= pool.end()) }
}
