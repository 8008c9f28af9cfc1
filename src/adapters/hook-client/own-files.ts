import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'

/** Windows has neither; there, a link needs rights that a prankster lacks. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants

/** Never follows a link, and never waits for the other end of a pipe that somebody put in place of a file. */
export const CAREFULLY = O_NOFOLLOW | O_NONBLOCK

/** The text of a file. Absent where there is none. @throws where it is no plain file, or larger than `most` bytes */
export const readOwnFile = (path: string, most: number): string | undefined => {
  const file = opened(path)
  if (file === undefined) return undefined
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new Error('it is not a plain file')
    if (found.size > most) throw new Error(`it is over ${most} bytes`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

const opened = (path: string): number | undefined => {
  try {
    return openSync(path, O_RDONLY | CAREFULLY)
  } catch (problem) {
    if (codeOf(problem) === 'ENOENT') return undefined
    throw problem
  }
}

/** Writes a file that only its owner can read, whole or not at all. */
export const writeOwnFile = (folder: string, name: string, text: string): void => {
  const begun = `${folder}/.${name}.tmp`
  writeFileSync(begun, text, { flag: 'wx', mode: 0o600 })
  try {
    renameSync(begun, `${folder}/${name}`)
  } catch (problem) {
    rmSync(begun, { force: true })
    throw problem
  }
}

/** Makes a folder of this user's own, or looks whether it is one. @throws where another user could write to it */
export const ownFolder = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { uid, mode } = statSync(path)
  const user = process.getuid?.() ?? 0
  if (user !== 0 && uid !== user) throw new Error('the folder belongs to another user')
  if (process.platform !== 'win32' && (mode & 0o022) !== 0) throw new Error('others may write to the folder')
}

/** The system's word for what went wrong, such as ENOENT. */
export const codeOf = (problem: unknown): string =>
  problem instanceof Error ? ((problem as NodeJS.ErrnoException).code ?? problem.message) : 'unknown'
