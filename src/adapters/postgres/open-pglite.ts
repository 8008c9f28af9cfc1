import { defined } from '../../domain/kernel/defined.ts'
import { Migrator } from './migrator.ts'
import { PgliteDialect } from './pglite-dialect.ts'
import { openFolder, openInMemory } from './pglite-folder.ts'
import { SqlStore } from './sql-store.ts'
import { mustBeSaid } from './store-address.ts'

/** Where the embedded store keeps its files. */
export interface PgliteOptions {
  /** A folder, made when missing, for one process at a time; left out means in memory, gone with the process. */
  readonly dataDir?: string
  readonly schema?: string
  /** A dump of a database folder to begin from. */
  readonly loadDataDir?: Blob
  /** Fail with `store.missing` where there is no store yet, instead of making one. */
  readonly mustExist?: boolean
  /** Is told what is worth a second look, such as a folder that others may enter. */
  readonly onWarning?: (message: string) => void
}

/**
 * Opens the embedded store and brings its schema up to date. What it has acknowledged outlives the process, however that
 * ends. `docs/embedded-store.md` says more.
 *
 * @throws StoreFailure `store.locked` when another process, or this one, has the folder open; `store.newer_schema` when
 * a newer Batonpass has written to it; `store.missing` when one must exist and none does;
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
  mustBeSaid(options, 'dataDir', 'Leave the option out for a store in memory, which is gone with the process.')
  const { dataDir, schema = 'batonpass', loadDataDir, mustExist, onWarning } = options
  const { pglite, lock } =
    dataDir === undefined
      ? { pglite: await openInMemory(defined({ loadDataDir, mustExist })), lock: undefined }
      : await openFolder(dataDir, defined({ loadDataDir, mustExist, onWarning }))
  let closing: Promise<void> | undefined
  // The lock goes last: until the engine is closed it may still write.
  const close = (): Promise<void> => (closing ??= pglite.close().finally(() => lock?.release()))
  const store = new SqlStore(new PgliteDialect(pglite), schema, close)
  try {
    await new Migrator(store.database).up()
    return store
  } catch (error) {
    // Why it did not open matters more than whether what is left could be closed.
    await Promise.allSettled([close()])
    throw error
  }
}
