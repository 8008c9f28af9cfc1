import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { defined } from '../../domain/kernel/defined.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { isOwnFolder, isPrivateFolder } from '../files/own-files.ts'
import { homeOf, homeStore, STORE_NAME } from './home-folder.ts'
import { isProjectStore } from './project-id.ts'

/** A store that is named: a folder, a server by its address, or a server by a file with its address. */
export type StorePlace =
  | { readonly dataDir: string }
  | { readonly database: string | readonly string[] }
  | { readonly databaseFile: string }

/** Everything that the choice of a store depends on. */
export interface StoreQuestion {
  /** The place that an option or a flag names. */
  readonly named?: StorePlace | undefined
  readonly environment: Environment
  /** The folder that the work is done in; absent where it has been removed. */
  readonly workingFolder: string | undefined
}

/** The store that is used, and why it is this one. */
export interface ChosenStore {
  readonly place: StorePlace
  readonly by: 'named' | 'variable' | 'project' | 'home'
  /** Why it is this one, in a few words. */
  readonly why: string
  /** Folders that look like project stores and are used by nothing: nobody has said that they may be. */
  readonly strangers: readonly string[]
  /** A variable that is set and not read, though it may have been meant. */
  readonly unread?: string
}

/** The variables that name a store, and the kind of place that each of them names. */
const VARIABLES = {
  BATONPASS_DATABASE_URL: 'database',
  BATONPASS_DATABASE_URL_FILE: 'databaseFile',
  BATONPASS_DATA_DIR: 'dataDir',
} as const

/**
 * The one rule for the store, wherever it is asked: what is named; else what a variable names; else the project store of the
 * working folder or of one above it; else the person's own store in the home folder.
 *
 * @throws StoreFailure `store.bad_address` where a variable is empty, where two are set, and where there is no home folder
 */
export const chooseStore = ({ named, environment, workingFolder }: StoreQuestion): ChosenStore => {
  if (named !== undefined) return { place: named, by: 'named', why: 'it is named', strangers: [] }
  const variable = placeInVariables(environment)
  if (variable !== undefined) return variable
  const home = realFolder(homeOf(environment))
  const { project, strangers } = searchUpwards(workingFolder, home, environment)
  const unread = ['DATABASE_URL', 'DATABASE_URL_FILE'].find((name) => environment[name] !== undefined)
  if (project !== undefined) {
    const why = `the project store of ${dirname(project)}`
    return defined({ place: { dataDir: project }, by: 'project' as const, why, strangers, unread })
  }
  if (home === undefined) throw noHome(environment)
  const why = 'your own store: nothing else is named'
  return defined({ place: { dataDir: homeStore(environment) }, by: 'home' as const, why, strangers, unread })
}

const placeInVariables = (environment: Environment): ChosenStore | undefined => {
  const set = Object.entries(VARIABLES).flatMap(([name, kind]) => {
    const value = environment[name]
    return value === undefined ? [] : [{ name, kind, value }]
  })
  const empty = set.find(({ value }) => value.trim() === '')
  if (empty !== undefined) throw bad(`${empty.name} is empty. Give it a value, or unset it.`)
  const [one, another] = set
  if (one === undefined) return undefined
  if (another !== undefined)
    throw bad(`${one.name} and ${another.name} are both set, and may name two stores. Unset one of them.`)
  const value = one.kind === 'database' ? one.value : resolve(one.value)
  const place = { [one.kind]: value } as unknown as StorePlace
  return { place, by: 'variable', why: `named by ${one.name}`, strangers: [] }
}

interface Found {
  readonly project?: string
  readonly strangers: readonly string[]
}

/** Looks for a project store in folders of this user, up to the home folder or the border of a file system. */
const searchUpwards = (from: string | undefined, home: string | undefined, environment: Environment): Found => {
  const strangers: string[] = []
  let at = from === undefined ? undefined : realFolder(from)
  const device = at === undefined ? undefined : statAt(at)?.dev
  while (at !== undefined && at !== home && isOwnFolder(at) && statAt(at)?.dev === device) {
    const candidate = join(at, STORE_NAME)
    const found = statAt(candidate)
    if (found !== undefined) {
      const isUsable = isClosed(candidate) && found.dev === device
      if (isUsable && isProjectStore(environment, candidate)) return { project: candidate, strangers }
      strangers.push(candidate)
    }
    const above = dirname(at)
    at = above === at ? undefined : above
  }
  return { strangers }
}

/** Where there are no users, as on Windows, a folder in the person's own folders is as closed as it can be. */
const isClosed = (folder: string): boolean => (process.getuid === undefined ? isOwnFolder : isPrivateFolder)(folder)

/** A link is not followed. A folder that may not be looked into has nothing to find. */
const statAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const realFolder = (path: string): string | undefined => {
  try {
    return isAbsolute(path) && statSync(path).isDirectory() ? realpathSync(path) : undefined
  } catch {
    return undefined
  }
}

const noHome = (environment: Environment): StoreFailure =>
  bad(`There is no home folder for your own store: ${homeOf(environment)} is none. ${NAME_ONE}`)

const bad = (message: string): StoreFailure => new StoreFailure('store.bad_address', message)

/** The advice where no store can be chosen. */
export const NAME_ONE = 'Name a store: set BATONPASS_DATA_DIR to a folder, or BATONPASS_DATABASE_URL to a server.'
