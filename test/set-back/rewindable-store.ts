import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { systemClock } from '../../src/entry/container.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { Unit } from '../../src/ports/store/unit-of-work.ts'
import { IS_FULL } from '../support/amounts.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'

/** A store of which a copy can be taken, and put in its place later, while a process uses it. */
export interface RewindableStore extends AsyncDisposable {
  readonly store: Store
  /** Where it is, on a server. */
  readonly connectionString?: string
  /** The store as another process has it, which was never answered anything. */
  another(): Promise<Store>
  keepCopy(): Promise<void>
  /** Puts the copy in the place of the store, under whoever has it open. */
  setBack(): Promise<void>
}

/** What is noticed is decided above the stores; PGlite runs the same statements as Postgres, and has its turn at night. */
export const REWINDABLE_KINDS: readonly ('memory' | 'pglite' | 'postgres')[] = IS_FULL
  ? ['memory', 'pglite', 'postgres']
  : ['memory', 'postgres']

export const openRewindable = (kind: (typeof REWINDABLE_KINDS)[number]): Promise<RewindableStore> => OPEN[kind]()

/** The same ports, of whichever store is current at the moment of a call. */
const following = (current: () => Store): Store => {
  const port = (name: keyof Store) =>
    new Proxy(
      {},
      {
        get:
          (_, method) =>
          (...given: unknown[]) =>
            Reflect.apply(Reflect.get(current()[name] as object, method), current()[name], given),
      },
    )
  const names = Object.keys(current()) as (keyof Store)[]
  const ports = Object.fromEntries(names.map((name) => [name, port(name)]))
  return { ...ports, [Symbol.asyncDispose]: async () => undefined } as unknown as Store
}

/** What was committed up to the copy is committed again, in a store of its own. */
const inMemory = async (): Promise<RewindableStore> => {
  let current = new MemoryStore({ clock: systemClock })
  let units: Unit[] = []
  let copied: readonly Unit[] = []
  const follower = following(() => current)
  const unitOfWork: Store['unitOfWork'] = {
    load: (question, command) => current.unitOfWork.load(question, command),
    estimateNow: () => current.unitOfWork.estimateNow(),
    commit: async (unit) => {
      const kept = await current.unitOfWork.commit(unit)
      if (kept.outcome === 'kept') units.push(unit)
      return kept
    },
  }
  return {
    store: { ...follower, unitOfWork },
    another: async () => ({ ...follower, unitOfWork }),
    keepCopy: async () => {
      copied = [...units]
    },
    setBack: async () => {
      current = new MemoryStore({ clock: systemClock })
      for (const unit of copied) await current.unitOfWork.commit(unit)
      units = [...copied]
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/**
 * Writes the copy into the files that are there, as `cp -a` does, and removes the others. Where files or folders are
 * replaced the engine notices by itself: see `test/embedded/replaced-folder.test.ts`.
 */
const restoreInto = (folder: string, copy: string): void => {
  const kept = readdirSync(copy, { withFileTypes: true })
  for (const name of readdirSync(folder))
    if (!kept.some((entry) => entry.name === name)) rmSync(join(folder, name), { recursive: true })
  for (const entry of kept) {
    const [from, to] = [join(copy, entry.name), join(folder, entry.name)]
    if (!entry.isDirectory()) writeFileSync(to, readFileSync(from))
    else {
      mkdirSync(to, { recursive: true })
      restoreInto(to, from)
    }
  }
}

/** A folder that somebody else has open and serves, until an earlier copy of it is restored there. */
const inFolder = async (): Promise<RewindableStore> => {
  const place = mkdtempSync(join(tmpdir(), 'batonpass-set-back-'))
  const [folder, copy] = [join(place, 'store'), join(place, 'copy')]
  const loadDataDir = new Blob([readFileSync(process.env.TEST_PGLITE_DUMP ?? '')])
  let holder = await openPglite({ dataDir: folder, loadDataDir })
  const store = await openPglite({ dataDir: folder })
  const others: Store[] = []
  return {
    store,
    another: async () => {
      const other = await openPglite({ dataDir: folder })
      others.push(other)
      return other
    },
    keepCopy: async () => {
      await holder[Symbol.asyncDispose]()
      cpSync(folder, copy, { recursive: true })
      holder = await openPglite({ dataDir: folder })
    },
    setBack: async () => {
      await holder[Symbol.asyncDispose]()
      restoreInto(folder, copy)
    },
    [Symbol.asyncDispose]: async () => {
      for (const open of [...others, store, holder]) await open[Symbol.asyncDispose]()
      rmSync(place, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** A database that is renamed away, and an earlier clone of it that gets its name. */
const onAServer = async (): Promise<RewindableStore> => {
  const server = process.env.TEST_DATABASE_URL ?? ''
  const name = await cloneDatabase()
  const connectionString = withDatabase(server, name)
  const store = await openPostgres({ connectionString })
  const others: Store[] = []
  return {
    store,
    connectionString,
    another: async () => {
      const other = await openPostgres({ connectionString })
      others.push(other)
      return other
    },
    keepCopy: () => alone(server, name, `create database ${name}_copy template ${name}`),
    setBack: async () => {
      await onServer(server, `drop database ${name} with (force)`)
      await onServer(server, `alter database ${name}_copy rename to ${name}`)
    },
    [Symbol.asyncDispose]: async () => {
      for (const open of [...others, store]) await open[Symbol.asyncDispose]()
    },
  }
}

/** Runs a statement that nobody may be connected for. Connections come back by themselves. */
const alone = async (server: string, database: string, statement: string): Promise<void> => {
  for (;;) {
    await onServer(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`)
    try {
      await onServer(server, statement)
      return
    } catch (error) {
      if ((error as { readonly code?: string }).code !== '55006') throw error
    }
  }
}

const OPEN = { memory: inMemory, pglite: inFolder, postgres: onAServer } as const
