import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ok } from '../../domain/kernel/result.ts'
import { codeOf } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'
import { refuse, type Settled } from './refusal.ts'

/** A file as it was read. */
export interface SettingsFile {
  /** The file itself, at the end of every link. */
  readonly target: string
  /** Absent where there is no file yet. */
  readonly bytes: Buffer | undefined
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
}

const MOST_BYTES = 16 * 1024 * 1024

/** Reads a file of settings, which may be a link, missing, or anything else. */
export const readSettingsFile = (path: string): Settled<SettingsFile> => {
  try {
    const target = targetOf(path)
    const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants
    const file = openSync(target, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    try {
      const { size, mode, uid, gid } = fstatSync(file)
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) return unreadable(path, 'is no file')
      if (size > MOST_BYTES) return unreadable(path, 'is larger than 16 MiB')
      return ok({ target, bytes: readFileSync(file), mode: mode & 0o777, owner: { uid, gid } })
    } finally {
      closeSync(file)
    }
  } catch (problem) {
    if (codeOf(problem) === 'ENOENT')
      return ok({ target: targetOf(path), bytes: undefined, mode: 0o600, owner: undefined })
    return unreadable(path, `cannot be read (${codeOf(problem)})`)
  }
}

const unreadable = (path: string, problem: string) => refuse(path, { code: 'settings.unreadable', problem })

/** The file a path means. A link may lead to one that is not there yet. */
const targetOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch (problem) {
    if (codeOf(problem) !== 'ENOENT') throw problem
    const link = lstatSync(path, { throwIfNoEntry: false })
    return link?.isSymbolicLink() === true ? resolve(dirname(path), readlinkSync(path)) : resolve(path)
  }
}

/** Whether a file can be replaced. A file that its owner may not write to is meant to stay as it is. */
export const isReplaceable = ({ target, mode, owner }: SettingsFile): Settled<undefined> => {
  const own = process.getuid?.()
  const no = (problem: string) => refuse(target, { code: 'settings.not_writable', problem })
  if (owner !== undefined && (mode & 0o200) === 0)
    return no('is read-only: make it writable (chmod u+w), or choose another --scope')
  if (owner !== undefined && own !== undefined && own !== 0 && owner.uid !== own) return no('belongs to another user')
  try {
    accessSync(existingFolder(dirname(target)), constants.W_OK)
    return ok(undefined)
  } catch (problem) {
    return no(`cannot be written: its folder does not allow it (${codeOf(problem)})`)
  }
}

const existingFolder = (folder: string): string =>
  statSync(folder, { throwIfNoEntry: false }) === undefined ? existingFolder(dirname(folder)) : folder

/**
 * Puts other bytes in the place of a file, whole or not at all, if it is still as it was read. Nothing instead of bytes
 * removes it. @returns the folders that had to be made, or that somebody else wrote to the file
 */
export const replaceFile = (file: SettingsFile, bytes: Buffer | undefined): Settled<readonly string[]> => {
  const { target } = file
  if (bytes === undefined) {
    if (!isUnchanged(file)) return meanwhile(target)
    rmSync(target, { force: true })
    return ok([])
  }
  const folders = madeFolders(dirname(target))
  const isRoot = process.getuid?.() === 0
  const isWritten = writeWhole(target, bytes, {
    // Only root can give a file away, and only its owner's file is replaced by others.
    takesOver: { mode: file.mode, ...(file.owner !== undefined && isRoot && { owner: file.owner }) },
    isDurable: true,
    isStillWanted: () => isUnchanged(file),
  })
  return isWritten ? ok(folders) : meanwhile(target)
}

const meanwhile = (target: string) =>
  refuse(target, {
    code: 'settings.changed_meanwhile',
    problem: 'is being written by another program: close it, and run this again',
  })

const isUnchanged = ({ target, bytes }: SettingsFile): boolean => {
  const now = readSettingsFile(target)
  if (!now.ok) return false
  return bytes === undefined ? now.value.bytes === undefined : now.value.bytes?.equals(bytes) === true
}

/** Makes a folder and everything above it. @returns the ones that were not there, innermost first */
const madeFolders = (folder: string): readonly string[] => {
  const missing: string[] = []
  for (let at = folder; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at)
  mkdirSync(folder, { recursive: true })
  return missing
}
