import type { Dialect } from 'kysely'
import type { KnownNames } from '../../../domain/kernel/known-names.ts'
import { mustBeKnown } from '../../../domain/run/run-configuration.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { Migrator } from '../migrate/migrator.ts'
import { SqlStore } from '../open/sql-store.ts'
import { mustBeSaid } from '../open/store-address.ts'
import { PgliteDialect } from './pglite-dialect.ts'
import { type Beginning, openInMemory } from './pglite-folder.ts'
import { SharedDialect } from './shared-dialect.ts'
import { SharedFolder } from './shared-folder.ts'
import { PATIENCE_MS } from './shared-waiting.ts'

/** Where the embedded store keeps its files. */
export interface PgliteOptions {
  /** A folder, made when missing, for the processes of one user; left out means in memory, gone with the process. */
  readonly dataDir?: string | undefined
  readonly schema?: string
  /** A dump of a database folder to begin from. */
  readonly loadDataDir?: Blob
  /** Fail with `store.missing` where there is no store yet, instead of making one. */
  readonly mustExist?: boolean
  /** False leaves a schema that lacks changes as it is, and fails with `store.not_migrated`. */
  readonly autoMigrate?: boolean
  /** How long to wait for the process that has the folder; two minutes unless given. */
  readonly patienceMs?: number
  /** False keeps the folder for this process alone: others are refused, and this one while another has it. */
  readonly share?: boolean
  /** Is told what is worth a second look, such as a folder that others may enter. */
  readonly onWarning?: (message: string) => void
}

const OPTION_NAMES: KnownNames<PgliteOptions> = {
  dataDir: true,
  schema: true,
  loadDataDir: true,
  mustExist: true,
  autoMigrate: true,
  patienceMs: true,
  share: true,
  onWarning: true,
}

/**
 * Opens the embedded store and brings its schema up to date. What it has acknowledged outlives the process, however that
 * ends. Any number of processes may open one folder: the first has the engine and serves the others, and when it has
 * ended, one of them takes over; nobody notices more than a pause. `docs/embedded-store.md` says more.
 *
 * @throws StoreFailure `store.locked` when a process has the folder that cannot share it with this one, such as one in
 * another container; `store.unavailable` when it does not let this one in; `store.newer_schema` when a newer Batonpass has written to it; `store.not_migrated` when it lacks changes that are not to be made; `store.missing` when one must exist and none does;
 * `store.failed` when the folder or its database cannot be opened
 * @example
 * ```ts
 * await using store = await openPglite()
 * const service = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
 * const { conversation } = unwrap(await service.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log((await store.conversations.find(conversation.id))?.originalTask) // => Fix the flaky test
 * ```
 */
export const openPglite = async (options: PgliteOptions = {}): Promise<SqlStore> => {
  mustBeKnown(options, OPTION_NAMES)
  mustBeSaid(options, 'dataDir', 'Leave the option out for a store in memory, which is gone with the process.')
  const { dataDir, schema = 'batonpass', autoMigrate = true, ...beginning } = options
  const opened = dataDir === undefined ? await inMemory(beginning) : await inFolder(dataDir, beginning)
  const { dialect, close } = opened
  const store = new SqlStore(dialect, { schema, close })
  try {
    const migrator = new Migrator(store.database)
    await untilHolderLasts(() => (autoMigrate ? migrator.up() : migrator.check()), beginning.patienceMs)
    opened.hasStore?.()
    return store
  } catch (error) {
    // Why it did not open matters more than whether what is left could be closed.
    await Promise.allSettled([close()])
    throw error
  }
}

interface Opened {
  readonly dialect: Dialect
  readonly close: () => Promise<void>
  /** Is called once the store has answered. */
  readonly hasStore?: () => void
}

const inMemory = async (beginning: Beginning): Promise<Opened> => {
  const pglite = await openInMemory(beginning)
  let closing: Promise<void> | undefined
  return { dialect: new PgliteDialect(pglite), close: () => (closing ??= pglite.close()) }
}

const inFolder = async (dataDir: string, beginning: Beginning): Promise<Opened> => {
  const folder = new SharedFolder(dataDir, beginning)
  await folder.way()
  return { dialect: new SharedDialect(folder), close: () => folder.close(), hasStore: () => folder.hasStore() }
}

/** So many holders in a row may end while the schema is looked at. */
const MOST_TRIES = 5

/** Again when the holder ended meanwhile: changes are made all together or not at all. */
const untilHolderLasts = async (look: () => Promise<unknown>, patienceMs = PATIENCE_MS): Promise<void> => {
  const deadline = Date.now() + patienceMs
  for (let tries = 1; ; tries += 1) {
    try {
      await look()
      return
    } catch (error) {
      const isPassing = error instanceof StoreFailure && error.retryable
      // One that did not answer for that long is not waited for again.
      if (!isPassing || tries === MOST_TRIES || Date.now() >= deadline) throw error
    }
  }
}
