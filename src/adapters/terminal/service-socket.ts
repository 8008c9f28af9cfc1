import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isPrivateFolder, ownFolder } from '../files/own-files.ts'

/** The place of a service's socket. */
export interface SocketPlace {
  readonly path: string
  /** As the address file names it: in the folder of the service by the way from there. */
  readonly named: string
  /** Takes the socket away, and the folder that was made for it. */
  remove(): void
}

const NAME = /^service-[0-9a-f]{8}\.sock$/
/** Folders of ours among the temporary files, and what `mkdtemp` adds to their name. */
const SHORT = 'baton-'
const SHORT_FOLDER = /\/baton-[A-Za-z0-9]{6}$/
/** The most bytes that the kernel takes as the path of a socket, without the zero at its end. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103

/**
 * The places where the socket of a service may be, the best first: in a private folder inside of its own, and in a short
 * private one, for where that path is too long or its file system has no sockets. None on Windows, whose pipes other users
 * may open.
 */
export function* socketPlaces(folder: string): Generator<SocketPlace, void> {
  if (process.platform === 'win32') return
  const socket = `service-${randomUUID().slice(0, 8)}.sock`
  const inside = insideOf(folder, socket)
  if (inside !== undefined) yield inside
  for (const place of shortFolders()) {
    const made = shortPlace(place, socket)
    if (made !== undefined) yield made
  }
}

const isShort = (path: string): boolean => Buffer.byteLength(path) <= LONGEST_PATH

const insideOf = (folder: string, socket: string): SocketPlace | undefined => {
  const own = join(folder, 'service')
  ownFolder(own)
  const path = join(realpathSync(folder), 'service', socket)
  if (!isShort(path) || !isPrivateFolder(own)) return undefined
  return { path, named: `service/${socket}`, remove: () => rmSync(path, { force: true }) }
}

/** The system's own folder for such things if it is private, and those for temporary files. */
const shortFolders = (): readonly string[] => {
  const { XDG_RUNTIME_DIR: given = '' } = process.env
  const runtime = isAbsolute(given) && isPrivateFolder(given) ? [given] : []
  return [...new Set([...runtime, tmpdir(), '/tmp'])]
}

/** A new folder each time: nobody can be there before us, or keep us out by a name. */
const shortPlace = (place: string, socket: string): SocketPlace | undefined => {
  if (!isShort(join(place, `${SHORT}XXXXXX`, socket))) return undefined
  try {
    const made = mkdtempSync(join(place, SHORT))
    const path = join(made, socket)
    return { path, named: path, remove: () => rmSync(made, { recursive: true, force: true }) }
  } catch {
    return undefined // it may not be written to, or is not there
  }
}

/**
 * Removes the sockets that killed services have left. Only for the one who has the lock of the service.
 *
 * @param named the socket that the last one named, in a folder of ours or elsewhere
 */
export const removeLeftSockets = (folder: string, named: string | null | undefined): void => {
  const own = join(folder, 'service')
  for (const name of readdirSync(own)) if (NAME.test(name)) rmSync(join(own, name), { force: true })
  const short = named == null || !isAbsolute(named) ? undefined : dirname(named)
  // A path out of a file is believed only as far as it looks like ours, and is this user's alone.
  if (short !== undefined && SHORT_FOLDER.test(short) && isPrivateFolder(short))
    rmSync(short, { recursive: true, force: true })
}
