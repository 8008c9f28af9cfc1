import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { codeOf, ownStoreFolder, readOwnFile, TooLarge, writeOwnFile } from './own-files.ts'

const MOST_BYTES = 4 * 1024 * 1024
/** A change takes a moment. A lock that is older was left by a process that was killed. */
const STALE_MS = 5_000
/** So long a person waits who asked for the change: longer than a lock that was left counts. */
const WAIT_MS = 10_000
const LOOK_AGAIN_MS = 5

/** The content of a JSON file of this user's own; nothing where it is missing or damaged. @throws NotOwn */
export const readList = (folder: string, name: string): unknown => {
  const text = readOwnFile(`${folder}/${name}`, MOST_BYTES)
  return text === undefined ? undefined : parsed(text)
}

/**
 * Changes a JSON file of this user's own: it is replaced whole, and processes that change it at the same time do so one
 * after the other. A damaged one is put aside first.
 *
 * @throws where the folder is not this user's own, cannot be written, or others do not let go of the file
 */
export const changeList = (
  folder: string,
  name: string,
  change: (json: unknown) => object,
  waitMs: number = WAIT_MS,
): void => {
  ownStoreFolder(folder)
  const unlock = locked(`${folder}/${name}.lock`, waitMs)
  try {
    const before = currentIn(folder, name)
    writeOwnFile(folder, name, `${JSON.stringify(change(before), undefined, 2)}\n`)
  } finally {
    unlock()
  }
}

const currentIn = (folder: string, name: string): unknown => {
  const [path, aside] = [`${folder}/${name}`, `${folder}/${name}.damaged`]
  // Left by a process that was killed between writing and renaming; the lock says that nobody is at it now.
  rmSync(`${folder}/.${name}.tmp`, { force: true })
  try {
    const text = readOwnFile(path, MOST_BYTES)
    const json = text === undefined ? undefined : parsed(text)
    if (text !== undefined && json === undefined) renameSync(path, aside)
    return json
  } catch (problem) {
    if (!(problem instanceof TooLarge)) throw problem
    renameSync(path, aside)
    return undefined
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Takes the lock, and answers with the way to let go of it. */
const locked = (path: string, waitMs: number): (() => void) => {
  const until = Date.now() + waitMs
  for (;;) {
    try {
      writeFileSync(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      return () => rmSync(path, { force: true })
    } catch (problem) {
      if (codeOf(problem) !== 'EEXIST') throw problem
      if (Date.now() > until) throw new Error(`${path} is held by another process`, { cause: problem })
    }
    if (isStale(path)) putAway(path)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS)
  }
}

const isStale = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > STALE_MS
}

/** Only one of those who saw the same old lock moves it away; the others find another one there, or none. */
const putAway = (path: string): void => {
  const away = `${path}.${process.pid}`
  try {
    const seen = lstatSync(path)
    renameSync(path, away)
    const moved = lstatSync(away)
    if (moved.ino !== seen.ino || !isStale(away)) renameSync(away, path)
  } catch (problem) {
    if (codeOf(problem) !== 'ENOENT') throw problem
  } finally {
    rmSync(away, { force: true })
  }
}
