import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { MemoryFileFailure } from '../../ports/terminal/memory-file.ts'
import { codeOf } from './failures.ts'
import { ownName } from './own-names.ts'
import type { Place } from './place.ts'
import { MOST_BYTES, type TextFile, tooLarge } from './text-file.ts'

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
const NEW_FILE_MODE = 0o644

/**
 * Whether a file may be replaced by another one under its name.
 *
 * @throws MemoryFileFailure when it is read-only, or has more names than one
 */
export const checkReplaceable = (target: string, { stats }: TextFile): void => {
  if ((stats.mode & 0o200) === 0) throw readOnly(target)
  // It may be gone by now, which is seen right before the new file takes its name.
  if (existsSync(target)) accessSync(target, constants.W_OK)
  if (stats.nlink === 1) return
  const problem = `${target} has ${stats.nlink} names (hard links), and the others would keep the old text.`
  throw new MemoryFileFailure('memory_file.hard_linked', `${problem} Make them symbolic links, or use another file.`)
}

const readOnly = (target: string): MemoryFileFailure =>
  new MemoryFileFailure(
    'memory_file.not_writable',
    `${target} is read-only. Make it writable (chmod u+w), or use another file.`,
  )

/** Writes a text to a file beside the one it is for, with its rights and its owner, and waits until the disk has it. */
export const writeDraft = ({ folder, target }: Place, text: string, old: TextFile | undefined): string => {
  const bytes = Buffer.from(text)
  if (bytes.length > MOST_BYTES) throw tooLarge(target)
  const draft = join(folder, ownName('new'))
  const descriptor = openSync(draft, 'wx', old === undefined ? NEW_FILE_MODE : 0o600)
  try {
    writeFileSync(descriptor, bytes)
    if (old !== undefined) takeOver(target, descriptor, old)
    fsyncSync(descriptor)
    return draft
  } catch (problem) {
    rmSync(draft, { force: true })
    throw problem
  } finally {
    closeSync(descriptor)
  }
}

const takeOver = (target: string, descriptor: number, { stats: { uid, gid, mode } }: TextFile): void => {
  const own = fstatSync(descriptor)
  try {
    if (own.uid !== uid || own.gid !== gid) fchownSync(descriptor, uid, gid)
  } catch (cause) {
    const problem = `${target} belongs to another user or group (${uid}:${gid}), which a new file could not keep.`
    throw new MemoryFileFailure('memory_file.not_writable', `${problem} Use a file of your own.`, { cause })
  }
  fchmodSync(descriptor, mode & 0o7777)
}

/** Gives a draft a name unless the name is taken. @returns whether it has it now */
export const linkDraft = (draft: string, target: string): boolean => {
  try {
    linkSync(draft, target)
    rmSync(draft, { force: true })
    return true
  } catch (problem) {
    if (codeOf(problem) === 'EEXIST') return false
    // A file system without hard links: there is a moment in which a file that somebody makes would be replaced.
    if (!NO_LINKS.has(codeOf(problem)) || existsSync(target)) throw problem
    renameSync(draft, target)
    return true
  }
}

/** Waits until the disk has the names of a folder. */
export const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } catch (problem) {
    // Not every file system does that; the file itself is safe.
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes(codeOf(problem))) throw problem
  } finally {
    closeSync(descriptor)
  }
}
