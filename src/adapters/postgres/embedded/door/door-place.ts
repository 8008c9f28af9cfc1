import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** How the names of the folders begin in which the sockets of doors are. */
export const DOOR = 'door-'

/** The name that clients of Postgres look for in a folder, `psql -h FOLDER` too. */
const SOCKET = '.s.PGSQL.5432'

/** The most bytes a kernel takes as the path of a socket, without the zero at its end. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103

/** The place of a door. */
export interface DoorPlace {
  /** The folder of its socket, with the owner alone let in. */
  readonly folder: string
  /** The path of the socket. */
  readonly socket: string
  /** As the lock names it: inside the store's folder by the way from there, so that it may be mounted anywhere. */
  readonly address: string
}

/**
 * Makes the folder for the socket of a door: inside the store's own or, where the path would be too long, in a private
 * one of this user. Nothing when neither can be had: then nobody is let in.
 */
export const makeDoorPlace = (store: string, token: string): DoorPlace | undefined => {
  const name = `${DOOR}${token.slice(0, 8)}`
  const inside = join(store, name)
  const folder = isShort(inside) ? inside : join(runtimeFolder() ?? store, name)
  if (!isShort(folder) || !isMade(folder)) return undefined
  const socket = join(folder, SOCKET)
  return { folder, socket, address: folder === inside ? `${name}/${SOCKET}` : socket }
}

/** The folder of the socket that a lock names; nothing when it is not one of ours, or somebody else could be there. */
export const foundDoorFolder = (store: string, address: string): string | undefined => {
  const [, folder] = /^((?:\/.*\/)?door-[\da-f]{8})\/\.s\.PGSQL\.5432$/.exec(address) ?? []
  if (folder === undefined) return undefined
  const path = isAbsolute(folder) ? folder : join(store, folder)
  return isShort(path) && isPrivate(path) ? path : undefined
}

/** Removes the door that a holder who is gone has left. The place follows from its token: no path in a file is believed. */
export const removeDoor = (store: string, token: string): void => {
  const name = `${DOOR}${token.slice(0, 8)}`
  for (const folder of [store, runtimeFolder()])
    if (folder !== undefined) rmSync(join(folder, name), { recursive: true, force: true })
}

const isShort = (folder: string): boolean => Buffer.byteLength(join(folder, SOCKET)) <= LONGEST_PATH

/** The system's folder for such things if it has a private one, else a private one in the folder for temporary files. */
const runtimeFolder = (): string | undefined => {
  const { XDG_RUNTIME_DIR: given } = process.env
  const isGiven = given !== undefined && isAbsolute(given) && isPrivate(given)
  const folder = join(isGiven ? given : tmpdir(), `batonpass-${process.getuid?.() ?? 'doors'}`)
  // Another user may have made the folder first, so its owner is checked after it is made.
  isMade(folder)
  return isPrivate(folder) ? folder : undefined
}

const isMade = (folder: string): boolean => {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch {
    return false
  }
}

/** Whether a folder, and no link to one, is this user's and closed to everybody else. */
const isPrivate = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0
}
