import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import type { ConversationId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { dump } from './made-store.ts'

/** Where the store of a test is, where it may be moved to, and the backup of it: closed, then copied. */
export interface Place {
  readonly dataDir: string
  readonly moved: string
  readonly backup: string
  /** Conversations that are in the backup. */
  readonly backedUp: readonly ConversationId[]
}

export const write = async (store: SqlStore, originalTask = 'Work'): Promise<ConversationId> => {
  const service = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
  return unwrap(await service.openConversation({ originalTask })).conversation.id
}

export const close = (store: SqlStore): Promise<void> => store[Symbol.asyncDispose]()

/** Copies a folder as `cp -a` does. */
export const copied = (from: string, to: string): void => {
  cpSync(from, to, { recursive: true, preserveTimestamps: true })
  chmodSync(to, 0o700)
}

/** Makes a store with a backup of it; both are closed. */
export const makePlace = async (folder: string): Promise<Place> => {
  const place = { dataDir: join(folder, 'store'), moved: join(folder, 'moved'), backup: join(folder, 'backup') }
  const store = await openPglite({ dataDir: place.dataDir, loadDataDir: dump() })
  const backedUp = [await write(store, 'Backed up')]
  await close(store)
  copied(place.dataDir, place.backup)
  return { ...place, backedUp }
}

/** A place of a test's own; copying one is quicker than making it. */
export const copyOfPlace = (original: Place, folder: string): Place => {
  const [dataDir, moved, backup] = ['store', 'moved', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(folder, { recursive: true })
  copied(original.dataDir, dataDir)
  copied(original.backup, backup)
  return { dataDir, moved, backup, backedUp: original.backedUp }
}

const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 10 })

/** Something that happens to a folder while a process has it open. */
export interface Happening {
  readonly what: string
  happen(place: Place): void
  /** Where the next process opens a store; where it was, unless said otherwise. */
  readonly at?: 'moved'
  /** What must be found there afterwards, beside what the next process wrote: the backup, or what the first one wrote. */
  readonly holds: 'nothing' | 'the backup' | 'the same store'
  /** The first process still has its store afterwards. */
  readonly isHarmless?: true
}

export const HAPPENINGS: readonly Happening[] = [
  { what: 'removed', happen: ({ dataDir }) => remove(dataDir), holds: 'nothing' },
  { what: 'moved away', happen: ({ dataDir, moved }) => renameSync(dataDir, moved), holds: 'nothing' },
  {
    what: 'moved, and opened there',
    happen: ({ dataDir, moved }) => renameSync(dataDir, moved),
    at: 'moved',
    holds: 'the same store',
  },
  {
    what: 'moved away, a backup in its place',
    happen: ({ dataDir, moved, backup }) => {
      renameSync(dataDir, moved)
      copied(backup, dataDir)
    },
    holds: 'the backup',
  },
  {
    what: 'removed, a backup in its place',
    happen: ({ dataDir, backup }) => {
      remove(dataDir)
      copied(backup, dataDir)
    },
    holds: 'the backup',
  },
  {
    what: 'its data replaced by a backup',
    happen: ({ dataDir, backup }) => {
      remove(join(dataDir, 'data'))
      copied(join(backup, 'data'), join(dataDir, 'data'))
    },
    holds: 'the backup',
  },
  {
    what: 'a backup unpacked into data',
    happen: ({ dataDir, backup }) => {
      const data = join(dataDir, 'data')
      for (const name of readdirSync(data)) remove(join(data, name))
      copied(join(backup, 'data'), data)
    },
    holds: 'the backup',
  },
  {
    what: 'a backup copied over its files',
    happen: ({ dataDir, backup }) => copied(join(backup, 'data'), join(dataDir, 'data')),
    holds: 'the backup',
  },
  { what: 'its lock removed', happen: ({ dataDir }) => remove(join(dataDir, 'lock')), holds: 'the same store' },
  {
    what: 'moved away and back',
    happen: ({ dataDir, moved }) => {
      renameSync(dataDir, moved)
      renameSync(moved, dataDir)
    },
    holds: 'the same store',
    isHarmless: true,
  },
]

/** Opens the folder as the next process does, or makes a store there. */
export const openNext = (dataDir: string, mustExist: boolean): Promise<SqlStore> =>
  openPglite(mustExist ? { dataDir, mustExist } : { dataDir, loadDataDir: dump() })

/** What a store says when it is written to: the code of its failure, or that it was kept. */
export const saidBy = async (store: SqlStore): Promise<string> => {
  try {
    await write(store, 'Late')
    return 'kept'
  } catch (error) {
    return error instanceof StoreFailure ? error.code : String(error)
  }
}

/** How many of some conversations a folder has, opened by nobody else now. */
export const found = async (dataDir: string, ids: readonly ConversationId[]): Promise<string> => {
  try {
    const store = await openPglite({ dataDir, mustExist: true })
    try {
      const all = await Promise.all(ids.map((id) => store.conversations.find(id)))
      return `${all.filter((one) => one !== undefined).length} of ${ids.length}`
    } finally {
      await close(store)
    }
  } catch (error) {
    return `does not open: ${error instanceof StoreFailure ? error.code : String(error)}`
  }
}
