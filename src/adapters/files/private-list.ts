import { renameSync } from 'node:fs'
import { withFolderSync } from './folder-lock.ts'
import { ownStoreFolder, readOwnFile, TooLarge } from './own-files.ts'
import { writeWhole } from './whole-file.ts'

const MOST_BYTES = 4 * 1024 * 1024
/** How long a person who asked for the change waits for other processes. */
const WAIT_MS = 10_000

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
  const changed = (): void => {
    const before = currentIn(folder, name)
    writeWhole(`${folder}/${name}`, `${JSON.stringify(change(before), undefined, 2)}\n`)
  }
  withFolderSync(folder, changed, waitMs)
}

const currentIn = (folder: string, name: string): unknown => {
  const [path, aside] = [`${folder}/${name}`, `${folder}/${name}.damaged`]
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
