import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The name of a folder says whose it is: `batonpass-hook-<pid>-<random>`. */
export const PREFIX = 'batonpass-hook-'
const FOLDER = /^batonpass-hook-(\d{1,10})-\w+$/

/** Takes payloads away that processes of this user left when they were killed. Whatever else is there is left alone. */
export const sweepPayloads = (place: string): void => {
  for (const name of namesIn(place)) {
    const pid = Number(FOLDER.exec(name)?.[1])
    const folder = join(place, name)
    if (Number.isSafeInteger(pid) && !isAlive(pid) && isOwn(folder)) rmSync(folder, { recursive: true, force: true })
  }
}

const namesIn = (place: string): readonly string[] => {
  try {
    return readdirSync(place)
  } catch {
    return [] // such as a folder that may be written to and not listed
  }
}

/** A link, or a folder of somebody else, is not ours to take away. */
const isOwn = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.()
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
