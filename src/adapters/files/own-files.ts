import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'

/** Windows has neither; there, a link needs rights that a prankster lacks. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants

/** Never follows a link, and never waits for the other end of a pipe that somebody put in place of a file. */
export const CAREFULLY = O_NOFOLLOW | O_NONBLOCK

/** A file or folder that is not used, because it may be somebody else's. */
export class NotOwn extends Error {
  override readonly name = 'NotOwn'
}

/** A file that is larger than anything it should hold. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** The owner and the mode of a file or folder. */
type Rights = Pick<Stats, 'uid' | 'mode'>

/** The user of this process; absent on systems without owners, such as Windows. */
const thisUser = (): number | undefined => process.getuid?.()

/**
 * Why something is not this user's own: it belongs to somebody else, or others may write to it. Root is no exception: a
 * folder that another user has made stays that user's when root opens it. Nothing where it is this user's own.
 */
const foreignness = ({ uid, mode }: Rights, user: number | undefined = thisUser()): string | undefined => {
  if (user === undefined) return undefined
  if (uid !== user) return `belongs to another user (uid ${uid}; this process has uid ${user})`
  return (mode & 0o022) === 0 ? undefined : `may be written to by other users (mode ${(mode & 0o777).toString(8)})`
}

/**
 * The text of a file of this user. Absent where there is none.
 *
 * @throws where it is no plain file, larger than `most` bytes, or another user could have written it
 */
export const readOwnFile = (path: string, most: number): string | undefined => {
  const file = opened(path)
  if (file === undefined) return undefined
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new NotOwn('it is not a plain file')
    const foreign = foreignness(found)
    if (foreign !== undefined) throw new NotOwn(`it ${foreign}`)
    if (found.size > most) throw new TooLarge(`it is over ${most} bytes`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

const opened = (path: string): number | undefined => {
  try {
    return openSync(path, O_RDONLY | CAREFULLY)
  } catch (problem) {
    const code = codeOf(problem)
    if (code === 'ENOENT') return undefined
    // A link, or a socket: neither can be opened this way.
    if (code === 'ELOOP' || code === 'ENXIO') throw new NotOwn('it is not a plain file', { cause: problem })
    if (code === 'EACCES') throw new NotOwn('it may not be read', { cause: problem })
    throw problem
  }
}

/**
 * Makes a folder of this user's own, or looks whether it is one. Nothing in it is touched where it is not.
 *
 * @throws NotOwn where it is another user's, where others may write to it, or where a link of another user leads to it
 */
export const ownFolder = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  mustBeOwnFolder(path)
}

/**
 * Keeps a folder out of every commit: a store has every prompt in it, and thousands of files. A file that is there is left
 * as it is, and a folder that cannot be written to is named by whatever else is written there.
 */
export const ignoreInGit = (folder: string): void => {
  try {
    writeFileSync(`${folder}/.gitignore`, '*\n', { flag: 'wx', mode: 0o600 })
  } catch (problem) {
    if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM', 'ENOSPC'].includes(codeOf(problem))) throw problem
  }
}

/** Makes a folder for a store or a service as `ownFolder` does. One that was made here is in no commit. @throws NotOwn */
export const ownStoreFolder = (path: string): void => {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 })
  mustBeOwnFolder(path)
  if (made !== undefined) ignoreInGit(path)
}

/** Looks whether a folder that is there is this user's own. @throws NotOwn where it is not, or where it is no folder */
export const mustBeOwnFolder = (path: string): void => {
  const link = lstatSync(path)
  const found = link.isSymbolicLink() ? statSync(path) : link
  if (!found.isDirectory()) throw new NotOwn(`${path} is no folder. Name another one.`)
  const foreign = foreignness({ uid: link.uid, mode: 0 }) ?? foreignness(found)
  if (foreign !== undefined) throw new NotOwn(`The folder ${path} ${foreign}. Nothing in it was read or changed.`)
}

/** Whether a folder, and no link to one, is this user's and closed to everybody else. */
export const isPrivateFolder = (path: string, user: number | undefined = thisUser()): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === user && (found.mode & 0o077) === 0
}

/** Whether a folder, and no link to one, is this user's. */
export const isOwnFolder = (path: string, user: number | undefined = thisUser()): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && (user === undefined || found.uid === user)
}

/** The system's word for what went wrong, such as ENOENT. */
export const codeOf = (problem: unknown): string =>
  problem instanceof Error ? ((problem as NodeJS.ErrnoException).code ?? problem.message) : 'unknown'
