import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { quoted } from '../../../processes/quoted.ts'

/** The rights of others than the owner, as bits of a mode. */
const ANYTHING = 0o077
const WRITE = 0o022
const ENTER = 0o011

/** Takes a sentence for a person about something that is allowed, and worth a second look. */
export type OnWarning = (message: string) => void

/**
 * Looks whether a store's files are for this user alone. Systems without owners, such as Windows, have nothing to look at.
 *
 * @throws StoreFailure when the folder or the database belongs to another user, when others could have written to it, or
 * when the database is a link: whatever it leads to was not made by us
 */
export const checkRights = (folder: string, onWarning: OnWarning): void => {
  const data = join(folder, 'data')
  const found = lstatSync(data, { throwIfNoEntry: false })
  if (found !== undefined && !found.isDirectory()) throw notFolder(data)
  const me = process.getuid?.()
  if (me === undefined) return
  const outer = statSync(folder)
  if (outer.uid !== me) throw foreign(folder, folder, { owner: outer.uid, me })
  if (found !== undefined && found.uid !== me) throw foreign(folder, data, { owner: found.uid, me })
  const wasWritable = found !== undefined && (found.mode & WRITE) !== 0 && (outer.mode & ENTER) !== 0
  // Some file systems, as those of Windows inside Linux, show the same rights for everything: nothing can be done there.
  if (wasWritable && keepsRights(folder)) throw writable(data, found.mode)
  if ((outer.mode & ANYTHING) !== 0) onWarning(openFolderText(folder, outer.mode))
}

/** A link to a folder may be followed if it is this user's own: somebody else's leads wherever they like, whenever they like. */
export const mustBeOwnLink = (folder: string): void => {
  const me = process.getuid?.()
  const found = lstatSync(folder)
  if (me !== undefined && found.isSymbolicLink() && found.uid !== me)
    throw foreign(folder, folder, { owner: found.uid, me })
}

const shown = (mode: number): string => (mode & 0o777).toString(8)

const openFolderText = (folder: string, mode: number): string =>
  `The folder ${folder} of the embedded store is open to other users (mode ${shown(mode)}). What is in it is closed to ` +
  `them, but the folder should be too: chmod 700 ${quoted(folder)}`

const foreign = (
  folder: string,
  path: string,
  { owner, me }: { readonly owner: number; readonly me: number },
): StoreFailure =>
  new StoreFailure(
    'store.failed',
    `${path === folder ? 'The folder' : 'The database in'} ${path} belongs to another user (uid ${owner}; this process has uid ${me}). Nothing ` +
      `was touched. Run as that user, or, if it is yours, take it: chown -R ${me} ${quoted(folder)}`,
  )

const notFolder = (data: string): StoreFailure =>
  new StoreFailure(
    'store.failed',
    `${data} is a link, or something else that is no folder, and the database must be a folder of its own there. Nothing ` +
      'behind it was touched. Name the folder that the store is really in, or move the database there.',
  )

const writable = (data: string, mode: number): StoreFailure =>
  new StoreFailure(
    'store.failed',
    `Other users may write to the database in ${data} (mode ${shown(mode)}), so nobody can say who did. Nothing was ` +
      `touched. If you trust what is in it, close it to them and try again: chmod 700 ${quoted(data)}`,
  )

const keepsRights = (folder: string): boolean => {
  const probe = mkdtempSync(join(folder, 'rights-'))
  try {
    return (statSync(probe).mode & ANYTHING) === 0
  } finally {
    rmdirSync(probe)
  }
}

/** Closes a folder and all that is in it to everybody but its owner. The engine makes its files readable for all. */
export const closeToOthers = (path: string): void => {
  const { mode } = lstatSync(path)
  if ((mode & ANYTHING) !== 0) tighten(path, mode & 0o700)
  for (const found of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, found.name)
    if (found.isDirectory()) closeToOthers(inner)
    else if (found.isFile()) {
      const { mode: theirs } = lstatSync(inner)
      if ((theirs & ANYTHING) !== 0) tighten(inner, theirs & 0o700)
    }
  }
}

/** The folder around it is closed; a file system that takes no rights keeps nobody from opening the store. */
const tighten = (path: string, mode: number): void => {
  try {
    chmodSync(path, mode)
  } catch {}
}
