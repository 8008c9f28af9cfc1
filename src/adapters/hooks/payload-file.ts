import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The variable that names the file of the payload, for commands that cannot hold JSON in a variable. */
export const PAYLOAD_FILE_VARIABLE = 'BATONPASS_HOOK_PAYLOAD_FILE'

/** The payload of a hook as a file of its owner, in a folder of its own, until it is disposed of. */
export interface PayloadFile extends Disposable {
  readonly path: string
}

/** Folders of this process that are still there; one that exits in a hurry takes them with it. */
const there = new Set<string>()
let hasSwept = false

const remove = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true })
  there.delete(folder)
}

const removeAll = (): void => {
  for (const folder of there) remove(folder)
}

/** Writes the payload of a hook: 0600 in a fresh folder of 0700. The first one also sweeps what killed processes left. */
export const payloadFile = (payload: string): PayloadFile => {
  if (!hasSwept) process.on('exit', removeAll)
  if (!hasSwept) sweepPayloads(tmpdir())
  hasSwept = true
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)) // which makes it 0700
  there.add(folder)
  try {
    const path = join(folder, 'payload.json')
    writeFileSync(path, payload, { mode: 0o600, flag: 'wx' })
    return { path, [Symbol.dispose]: () => remove(folder) }
  } catch (error) {
    remove(folder)
    throw error
  }
}

/** The name of a folder says whose it is: `batonpass-hook-<pid>-<random>`. */
const PREFIX = 'batonpass-hook-'
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
