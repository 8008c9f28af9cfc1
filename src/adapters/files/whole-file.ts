import {
  closeSync,
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
import { dirname, join } from 'node:path'
import { codeOf } from './own-files.ts'
import { ownName } from './own-names.ts'

/** The rights and the owner that a new file takes over from the one that it replaces. */
export interface TakenOver {
  readonly mode: number
  /** The user of this process unless given. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

/** How a file is written. The places that write files promise different things, and each difference is named here. */
export interface Writing {
  /** The rights of a new file, less what the umask takes: 0600 unless given, because most of these files have prompts in them. */
  readonly mode?: number
  /** The rights of a file of a person, which a new one must have exactly. They replace `mode`. */
  readonly takesOver?: TakenOver
  /**
   * Whether the disk has the bytes and the name before this returns. Files of people and the lock of a store need it: nobody
   * could make them again after a power cut. The others do not: they are made anew, and a hook has only milliseconds.
   */
  readonly isDurable?: boolean
  /** The path of the draft, where other programs know it by its name. */
  readonly draft?: string
  /** Asked right before the file takes its name, so that what others wrote meanwhile is not lost. If not, nothing changes. */
  readonly isStillWanted?: () => boolean
  /** Moves a file over another one; `renameSync` unless given. */
  readonly rename?: typeof renameSync
}

/** How a file is made that must not replace another one. */
export interface Making extends Writing {
  /** Whether it may be renamed where there are no hard links: for a moment a file that somebody else makes could be lost. */
  readonly mayRename?: boolean
}

/**
 * Puts a file in the place of whatever has the name: a reader finds the old one or the new one, whole. No link is followed.
 * A process that is killed leaves the old file, and a draft that its name gives away.
 *
 * @returns whether it was still wanted
 */
export const writeWhole = (path: string, content: string | Uint8Array, writing: Writing = {}): boolean => {
  const { rename = renameSync } = writing
  return withDraft(path, content, writing, (draft) => {
    rename(draft, path)
    return true
  })
}

/** Makes a file whole as `writeWhole` does, unless the name is taken. @returns whether it was made */
export const makeWhole = (path: string, content: string | Uint8Array, making: Making = {}): boolean =>
  withDraft(path, content, making, (draft) => {
    try {
      return linkUnlessTaken(draft, path)
    } catch (problem) {
      if (making.mayRename !== true || !NO_LINKS.has(codeOf(problem)) || existsSync(path)) throw problem
      renameSync(draft, path)
      return true
    }
  })

const withDraft = (
  path: string,
  content: string | Uint8Array,
  writing: Writing,
  takeName: (draft: string) => boolean,
): boolean => {
  const draft = writing.draft ?? join(dirname(path), ownName('new'))
  writeDraft(draft, content, writing)
  try {
    if (writing.isStillWanted?.() === false || !takeName(draft)) return false
    if (writing.isDurable === true) syncFolder(dirname(path))
    return true
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Writes a new file that is given its name later. Nothing of it stays where that fails. @throws where the name is taken */
export const writeDraft = (draft: string, content: string | Uint8Array, writing: Writing): void => {
  const { takesOver, mode = 0o600, isDurable = false } = writing
  const descriptor = openSync(draft, 'wx', takesOver === undefined ? mode : 0o600)
  try {
    writeFileSync(descriptor, content)
    if (takesOver !== undefined) takeOver(descriptor, takesOver)
    if (isDurable) fsyncSync(descriptor)
  } catch (problem) {
    rmSync(draft, { force: true })
    throw problem
  } finally {
    closeSync(descriptor)
  }
}

const takeOver = (descriptor: number, { mode, owner }: TakenOver): void => {
  const own = fstatSync(descriptor)
  if (owner !== undefined && (own.uid !== owner.uid || own.gid !== owner.gid))
    fchownSync(descriptor, owner.uid, owner.gid)
  // After the owner: a change of owner takes rights away.
  fchmodSync(descriptor, mode & 0o7777)
}

/** File systems without hard links, and files with too many. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Gives a file a second name. @returns whether nothing had it */
export const linkUnlessTaken = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (problem) {
    if (codeOf(problem) === 'EEXIST') return false
    throw problem
  }
}

/** Not every file system does that, and not every folder may be opened; the file itself is safe. */
const NOT_SYNCED = new Set(['EINVAL', 'ENOTSUP', 'EPERM', 'EACCES', 'EISDIR'])

const syncFolder = (folder: string): void => {
  try {
    const descriptor = openSync(folder, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (problem) {
    if (!NOT_SYNCED.has(codeOf(problem))) throw problem
  }
}
