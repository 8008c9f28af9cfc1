import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { defined } from '../../../domain/kernel/defined.ts'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { ignoreInGit } from '../../files/own-files.ts'
import type { WireEngine } from './pglite-dialect.ts'
import { HeldDatabase, numberAt } from './pglite-identity.ts'
import { type SharedLock, takeProvenLock } from './pglite-proven-lock.ts'
import { guardReplaced, replaced } from './pglite-replaced.ts'
import { checkRights, closeToOthers, mustBeOwnLink, type OnWarning } from './pglite-rights.ts'
import { created, openRooted, type RootedPglite } from './pglite-root.ts'
import { guardSpace, mustHaveSpace } from './pglite-space.ts'

/** An embedded store's engine, and the lock that keeps others from its files. */
export interface LockedPglite {
  readonly pglite: WireEngine
  readonly lock: SharedLock
}

/** How to begin where there is no store yet: from nothing, from a dump, or not at all. */
export interface Beginning {
  readonly loadDataDir?: Blob
  readonly mustExist?: boolean
  /** Is told what is worth a second look, such as a folder that others may enter. */
  readonly onWarning?: OnWarning
  /** How long to wait for the process that has the folder. */
  readonly patienceMs?: number
  /** Whether other processes of this user are let in. */
  readonly share?: boolean
}

/** Makes the folder of a store when it is missing, and looks whether it is for this user alone. Answers with its path. */
export const preparedFolder = (dataDir: string, { mustExist = false, onWarning = () => {} }: Beginning): string => {
  // Looked at first, so that nothing is left where there is no store.
  if (mustExist && !isStore(dataDir)) throw missing(dataDir)
  const folder = madeFolder(dataDir)
  checkRights(folder, onWarning)
  return folder
}

/** Opens the engine on a folder that is prepared. The files are in `data`, the lock beside them. */
export const openFolder = async (folder: string, beginning: Beginning): Promise<LockedPglite> => {
  const { loadDataDir, mustExist = false, share = false } = beginning
  const lock = await lockIn(folder, share)
  try {
    const data = join(folder, 'data')
    if (isMissing(folder, data)) {
      if (mustExist) throw missing(folder)
      mustHaveSpace(folder, true)
      await makeDatabase(folder, data, loadDataDir)
    } else if (loadDataDir !== undefined) throw alreadyThere(folder)
    mustHaveSpace(folder, false)
    closeToOthers(data)
    const opened = await openDatabase(folder, data)
    closeToOthers(data)
    return { pglite: guarded(folder, lock, opened), lock }
  } catch (error) {
    void lock.door?.close()
    lock.release()
    throw error
  }
}

/** Opens an engine that keeps nothing on disk. */
export const openInMemory = async ({ loadDataDir, mustExist = false }: Beginning): Promise<PGlite> => {
  if (mustExist)
    throw new StoreFailure('store.missing', 'A store in memory begins empty: name the folder that has one.')
  try {
    return await created(defined({ loadDataDir }))
  } catch (error) {
    throw notOpened('The embedded store does not start in memory. Is there enough of it, and is the dump whole?', error)
  }
}

const isStore = (dataDir: string): boolean => {
  try {
    return existsSync(dataDir) && !isMissing(dataDir, join(dataDir, 'data'))
  } catch (error) {
    if (error instanceof StoreFailure) throw error
    throw notOpened(`${resolve(dataDir)} cannot be read as the folder of an embedded store`, error)
  }
}

const missing = (dataDir: string): StoreFailure =>
  new StoreFailure(
    'store.missing',
    `There is no embedded store in ${resolve(dataDir)}, and reading makes none. Name the folder that has it, or the ` +
      'Postgres server if the record is on one. The first write makes the store.',
  )

/** A dump was to be loaded where there is a store. */
export const alreadyThere = (folder: string): StoreFailure =>
  new StoreFailure(
    'store.failed',
    `There is an embedded store in ${folder} already. A dump can only begin a new one: name another folder.`,
  )

/** Two spellings of one folder give the same path. */
const madeFolder = (dataDir: string): string => {
  if (dataDir.trim() === '') throw new StoreFailure('store.failed', 'The folder of the embedded store has no name.')
  try {
    const made = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    mustBeOwnLink(dataDir)
    const isOurs = made !== undefined || USUAL_NAMES.includes(basename(resolve(dataDir)))
    if (isOurs || readdirSync(dataDir).length === 0) ignoreInGit(dataDir)
    return realpathSync(dataDir)
  } catch (error) {
    if (error instanceof StoreFailure) throw error
    throw notOpened(
      `The folder ${resolve(dataDir)} for the embedded store cannot be made. Name another folder or change its rights`,
      error,
    )
  }
}

/** The names of folders that are for a store alone. One of another name may have been there before, with other things in it. */
const USUAL_NAMES: readonly string[] = ['.batonpass', 'batonpass-demo']

const lockIn = async (folder: string, isShared: boolean): Promise<SharedLock> => {
  try {
    return await takeProvenLock(folder, isShared)
  } catch (error) {
    if (error instanceof StoreFailure) throw error
    throw notOpened(
      `The folder ${folder} of the embedded store cannot be written. Name another folder or change its rights`,
      error,
    )
  }
}

const isMissing = (folder: string, data: string): boolean => {
  const found = readdirSync(folder)
  if (found.includes('PG_VERSION')) {
    throw new StoreFailure(
      'store.failed',
      `${folder} is itself a PGlite database. Batonpass keeps its own in a folder named "data" below the one it is ` +
        'given: name another folder, or move the files there.',
    )
  }
  if (!found.includes('data')) return true
  const files = readdirSync(data)
  if (files.length > 0 && !files.includes('PG_VERSION')) {
    throw new StoreFailure('store.failed', `${data} holds something that is no database. Name another folder.`)
  }
  return files.length === 0
}

/**
 * Makes the database aside and moves it into place whole. A process killed half-way leaves a folder that nobody takes
 * for a database; PGlite itself would, and never open it again.
 */
const makeDatabase = async (folder: string, data: string, loadDataDir: Blob | undefined): Promise<void> => {
  const unfinished = join(folder, 'data.new')
  try {
    rmSync(unfinished, { recursive: true, force: true })
    // Closed before anything is in it.
    mkdirSync(unfinished, { mode: 0o700 })
    const own = numberAt(unfinished)
    const { close } = await openRooted(unfinished, defined({ loadDataDir }))
    // The next process may be making its own there by now.
    if (numberAt(unfinished) !== own) throw replaced(folder, 'it was removed or moved away while it was made')
    await close()
    renameSync(unfinished, data)
  } catch (error) {
    if (error instanceof StoreFailure) throw error
    throw notOpened(`The embedded store in ${folder} cannot be made. Is the disk full or the folder read-only?`, error)
  }
}

/** A database that was opened, and the files by which it is known. */
interface OpenedDatabase {
  readonly engine: RootedPglite
  readonly database: HeldDatabase
}

const openDatabase = async (folder: string, data: string): Promise<OpenedDatabase> => {
  let database: HeldDatabase | undefined
  try {
    // Looked at first: what takes its place while it is opened is another one.
    database = new HeldDatabase(folder)
    const engine = await openRooted(data)
    database.remember()
    return { engine, database }
  } catch (error) {
    database?.unpin()
    throw notOpened(
      `The database in ${data} does not open. It may lack memory or space here, its files may be of another version of ` +
        'PGlite, or they may be damaged. Nobody can tell from here, and everything in it may be whole: copy the folder ' +
        'before anything else, then try again, or name another folder with a backup in it',
      error,
    )
  }
}

const guarded = (folder: string, lock: SharedLock, { engine, database }: OpenedDatabase): WireEngine => {
  const close = async (): Promise<void> => {
    await engine.close()
    database.unpin()
  }
  const giveUp = async (): Promise<void> => {
    try {
      lock.release(engine.parent)
    } finally {
      database.unpin()
      await engine.abandon()
    }
  }
  return guardReplaced(guardSpace(engine.pglite, folder, close), { folder, database, giveUp })
}

const notOpened = (message: string, cause: unknown): StoreFailure =>
  new StoreFailure('store.failed', `${message} (${describeThrown(cause)}).`, { cause })
