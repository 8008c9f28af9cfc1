import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { defined } from '../../domain/kernel/defined.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { changeList, readList } from '../files/private-list.ts'
import { homeStore } from './home-folder.ts'
import { type ServerName, serverName } from './server-name.ts'

/** An embedded store that this person has opened, or a project store that `baton init` has made. */
export interface KnownFolder {
  readonly kind: 'folder'
  /** The whole path, without links. */
  readonly path: string
  /** The id in a project store. Only a folder with the same id at the same path is used without being named. */
  readonly id?: string
  /** When it was last opened; absent where nobody has yet. */
  readonly openedAt?: string
}

/** A store on a server that this person has opened. Nothing in it is a secret. */
export interface KnownServer extends ServerName {
  readonly kind: 'server'
  /** The file with the address, where it was opened by that. */
  readonly file?: string
  readonly openedAt?: string
}

/** A store of the person's private list. */
export type KnownStore = KnownFolder | KnownServer

/** A store that was opened, by the option that named it. */
export interface OpenedStore {
  readonly dataDir?: string
  readonly database?: string | readonly string[]
  readonly databaseFile?: string
  readonly schema?: string
}

const NAME = 'stores.json'
/** How many stores are listed beside the project stores, which are never dropped. */
const MOST = 200
/** A store that is opened again within this time is not written down again. */
const FRESH_MS = 60_000
/** So long is waited for others who write to the list, where nobody asked for it. */
const SHORT_MS = 100

/** The stores that this person has opened, newest first. Empty where the list is missing, damaged or somebody else's. */
export const knownStores = (environment: Environment): readonly KnownStore[] => {
  try {
    return storesIn(readList(homeStore(environment), NAME)).toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
  } catch {
    return []
  }
}

/**
 * Writes down that a store was opened, for questions about all of them. It never fails: where the home folder cannot be
 * written, the store is not listed.
 */
export const rememberStore = (environment: Environment, opened: OpenedStore, now: Date = new Date()): void => {
  try {
    const store = { ...listed(opened), openedAt: now.toISOString() }
    const before = knownStores(environment).find((one) => isSame(one, store))
    if (before?.openedAt !== undefined && Math.abs(now.getTime() - Date.parse(before.openedAt)) < FRESH_MS) return
    changeList(homeStore(environment), NAME, (json) => listOf(withStore(storesIn(json), store)), SHORT_MS)
  } catch {
    // A list for looking back is no reason to fail, nor to say a word to a person who reads something else.
  }
}

/** Lists a project store under its id. @throws where the list cannot be written */
export const rememberProject = (environment: Environment, path: string, id: string): void =>
  changeList(homeStore(environment), NAME, (json) =>
    listOf(withStore(storesIn(json), { kind: 'folder', path: realpathSync(path), id })),
  )

/** Takes a folder off the list, because it was moved away. @throws where the list cannot be written */
export const forgetFolder = (environment: Environment, path: string): void =>
  changeList(homeStore(environment), NAME, (json) =>
    listOf(storesIn(json).filter((store) => store.kind !== 'folder' || store.path !== path)),
  )

/** Whether a folder is the project store that the list has under this id. */
export const isKnownProject = (environment: Environment, path: string, id: string): boolean =>
  knownStores(environment).some((store) => store.kind === 'folder' && store.path === path && store.id === id)

const listed = ({ dataDir, database, databaseFile, schema }: OpenedStore): KnownStore => {
  if (database !== undefined)
    return defined({
      kind: 'server' as const,
      ...serverName(database, schema),
      file: databaseFile === undefined ? undefined : resolve(databaseFile),
    })
  if (dataDir === undefined) throw new TypeError('a store without a place')
  return { kind: 'folder', path: realpathSync(dataDir) }
}

const isSame = (one: KnownStore, other: KnownStore): boolean => {
  if (one.kind === 'folder') return other.kind === 'folder' && one.path === other.path
  const names = ['host', 'port', 'database', 'schema', 'user'] as const
  return other.kind === 'server' && names.every((name) => one[name] === other[name])
}

/** The list with this store in it. What was known of the same one and is not said anew is kept. */
const withStore = (stores: readonly KnownStore[], store: KnownStore): readonly KnownStore[] => {
  const before = stores.find((one) => isSame(one, store))
  return [...stores.filter((one) => one !== before), { ...before, ...store }]
}

const listOf = (stores: readonly KnownStore[]): object => {
  const [projects, others] = [stores.filter(isProject), stores.filter((store) => !isProject(store))]
  const newest = others.toSorted((a, b) => (isNewer(a, b) ? -1 : 1)).slice(0, MOST)
  return { v: 1, stores: [...projects, ...newest] }
}

const isProject = (store: KnownStore): boolean => store.kind === 'folder' && store.id !== undefined

const isNewer = ({ openedAt: one = '' }: KnownStore, { openedAt: other = '' }: KnownStore): boolean => one > other

/** The stores of a list. One that cannot be read is left out: a newer program may have written it. */
const storesIn = (json: unknown): readonly KnownStore[] => {
  const { stores } = (typeof json === 'object' && json !== null ? json : {}) as { readonly stores?: unknown }
  return Array.isArray(stores) ? stores.flatMap(storeIn) : []
}

const storeIn = (json: unknown): readonly KnownStore[] => {
  if (typeof json !== 'object' || json === null) return []
  const { kind, path, id, openedAt, host, port, database, schema, user, file } = json as Readonly<
    Record<string, unknown>
  >
  if (kind === 'folder' && isText(path))
    return [defined({ kind: 'folder' as const, path, id: text(id), openedAt: text(openedAt) })]
  if (kind !== 'server' || !isText(host) || !isText(port) || !isText(database) || !isText(schema)) return []
  return [
    defined({
      ...{ kind: 'server' as const, host, port, database, schema },
      ...{ user: text(user), file: text(file), openedAt: text(openedAt) },
    }),
  ]
}

const isText = (value: unknown): value is string => typeof value === 'string'

const text = (value: unknown): string | undefined => (isText(value) ? value : undefined)
