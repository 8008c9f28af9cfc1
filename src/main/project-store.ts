import { chmodSync, cpSync, lstatSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
// Project stores, for `baton init`: making one, adopting one that was there, and moving one to the home folder.
import { codeOf, ignoreInGit, isOwnFolder, ownStoreFolder } from '../adapters/files/own-files.ts'
import { homeOf, homeStore, STORE_NAME } from '../adapters/place/home-folder.ts'
import { forgetFolder } from '../adapters/place/known-stores.ts'
import { isProjectStore, makeProjectStore } from '../adapters/place/project-id.ts'
import { hasStore, remarksOn } from '../adapters/place/store-remarks.ts'
import { takeProvenLock } from '../adapters/postgres/embedded/pglite-proven-lock.ts'
import { AlreadyServed, lockService } from '../adapters/terminal/service-lock.ts'
import { err, ok, type Result } from '../domain/kernel/result.ts'
import { StoreFailure } from '../ports/store/store-failure.ts'
import type { Environment } from '../ports/system/environment.ts'

/** A folder that was to get a project store, and where it was asked for. */
export interface ProjectQuestion {
  readonly folder: string
  readonly environment: Environment
  readonly workingFolder: string | undefined
}

/** A project store that is there now. */
export interface ProjectMade {
  readonly state: 'made' | 'already' | 'adopted' | 'moved'
  /** The folder of the store. */
  readonly path: string
  /** The names of files that stayed where they were. */
  readonly left: readonly string[]
}

/** The reason why nothing was done, for a person and for programs. */
export interface ProjectRefusal {
  readonly code:
    | 'init.no_folder'
    | 'init.home_folder'
    | 'init.not_own'
    | 'init.unknown'
    | 'init.nothing'
    | 'init.there'
    | 'init.in_use'
  /** Sentences, line by line. */
  readonly lines: readonly string[]
}

type Answer = Result<ProjectMade, ProjectRefusal>

const refused = (code: ProjectRefusal['code'], ...lines: readonly string[]): Answer => err({ code, lines })

/** Makes the project store of a folder. Once more changes nothing. */
export const makeProject = (question: ProjectQuestion): Answer => {
  const found = projectIn(question)
  if (!found.ok) return found
  const { path, environment, isThere } = found.value
  if (!isThere) {
    ownStoreFolder(path)
    makeProjectStore(environment, path)
    return ok({ state: 'made', path, left: [] })
  }
  if (isProjectStore(environment, path)) return ok({ state: 'already', path, left: [] })
  return refused('init.unknown', ...remarksOn({ strangers: [path] }, question))
}

/** Makes a folder that is there already the project store. It is closed to others, and gets an id of its own. */
export const adoptProject = (question: ProjectQuestion): Answer => {
  const found = projectIn(question)
  if (!found.ok) return found
  const { path, environment, isThere } = found.value
  if (!isThere) return refused('init.nothing', `There is no ${path} to adopt. "baton init" makes one.`)
  if (!isOwnFolder(path))
    return refused('init.not_own', `${path} is no folder of yours, or a link to one. Nothing was changed.`)
  if (isProjectStore(environment, path)) return ok({ state: 'already', path, left: [] })
  chmodSync(path, 0o700)
  ignoreInGit(path)
  makeProjectStore(environment, path)
  return ok({ state: 'adopted', path, left: [] })
}

/** Makes the store of a folder the person's own, in the home folder, if there is none and nobody uses either of them. */
export const moveProject = async (question: ProjectQuestion): Promise<Answer> => {
  const found = projectIn(question)
  if (!found.ok) return found
  const { path, environment } = found.value
  const home = homeStore(environment)
  if (!isOwnFolder(path) || !hasStore(path)) return refused('init.nothing', `There is no store in ${path} to move.`)
  if (hasStore(home))
    return refused('init.there', `There is a store in ${home} already, and two cannot be made one. Nothing was moved.`)
  try {
    ownStoreFolder(home)
    const unlock = await allLocks(path, home)
    try {
      return ok({ state: 'moved', path: home, left: moveAll(path, home, environment) })
    } finally {
      unlock()
      removeEmpty(path)
    }
  } catch (problem) {
    const isUsed =
      problem instanceof AlreadyServed || (problem instanceof StoreFailure && problem.code === 'store.locked')
    if (!isUsed) throw problem
    return refused('init.in_use', `${path} or ${home} is in use. End what uses it, and try again. Nothing was moved.`)
  }
}

interface Project {
  readonly path: string
  readonly environment: Environment
  readonly isThere: boolean
}

const projectIn = ({ folder, environment }: ProjectQuestion): Result<Project, ProjectRefusal> => {
  const project = realFolder(resolve(folder))
  if (project === undefined)
    return err({ code: 'init.no_folder', lines: [`${resolve(folder)} is no folder. Name one that is there.`] })
  if (project === realFolder(homeOf(environment)))
    return err({
      code: 'init.home_folder',
      lines: [
        `${project} is your home folder, whose store is used wherever no project has one. Nothing is needed for it.`,
      ],
    })
  if (!isOwnFolder(project))
    return err({
      code: 'init.not_own',
      lines: [`${project} belongs to another user, so its store could not be yours.`],
    })
  const path = join(project, STORE_NAME)
  return ok({ path, environment, isThere: lstatSync(path, { throwIfNoEntry: false }) !== undefined })
}

const realFolder = (path: string): string | undefined => {
  try {
    return statSync(path).isDirectory() ? realpathSync(path) : undefined
  } catch {
    return undefined
  }
}

/** Nobody may open either store, nor serve it, while one becomes the other. */
const allLocks = async (...folders: readonly string[]): Promise<() => void> => {
  const held: (() => void)[] = []
  const unlock = (): void => {
    for (const release of held.splice(0)) release()
  }
  try {
    for (const folder of folders) {
      const service = await lockService(folder, takeProvenLock)
      held.push(() => service.release())
      const store = await takeProvenLock(folder)
      held.push(() => store.release())
    }
  } catch (problem) {
    unlock()
    throw problem
  }
  return unlock
}

/** Names that belong to a place and not to its store: locks, doors, the service and its secrets. */
const OF_THE_PLACE =
  /^(?:\.gitignore|store\.id|stores\.json.*|lock.*|pulse-.*|door.*|rights-.*|data\.new|service|service\..*|.*\.sock)$/

/** Moves everything but that. @returns the names of what the home folder has already, which stays */
const moveAll = (from: string, to: string, environment: Environment): readonly string[] => {
  const names = readdirSync(from).filter((name) => !OF_THE_PLACE.test(name))
  const there = new Set(readdirSync(to))
  // The store last: until then nothing has changed for anybody.
  for (const name of [...names.filter((one) => one !== 'data' && !there.has(one)), 'data'])
    moveOne(join(from, name), join(to, name))
  forgetFolder(environment, from)
  return names.filter((name) => name !== 'data' && there.has(name))
}

const moveOne = (from: string, to: string): void => {
  try {
    renameSync(from, to)
  } catch (problem) {
    if (codeOf(problem) !== 'EXDEV') throw problem
    // Another file system: whole beside its place first, so that nobody finds half of it.
    const copy = `${to}.moving`
    rmSync(copy, { recursive: true, force: true })
    cpSync(from, copy, { recursive: true, preserveTimestamps: true })
    renameSync(copy, to)
    rmSync(from, { recursive: true, force: true })
  }
}

const removeEmpty = (path: string): void => {
  if (readdirSync(path).every((name) => OF_THE_PLACE.test(name))) rmSync(path, { recursive: true, force: true })
}
