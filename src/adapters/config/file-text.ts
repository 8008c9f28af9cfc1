import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { FoundProblem } from './milestone-settings.ts'

/** More than anybody writes by hand, and little enough to read at once. */
const MOST_BYTES = 256 * 1024

/** A problem with a file, and what to do about it. */
export type FileProblem = Omit<FoundProblem, 'path'> & { readonly cause?: unknown }

/** Whether an opened file may be read; the answer is about the file itself, whatever its name means by then. */
export type FileCheck = (opened: FileHandle) => Promise<FileProblem | undefined>

/**
 * The text of a file somebody wrote, or why there is none. It is opened once, and what is checked is what was opened: a
 * name may mean another file a moment later. A pipe or a device is not waited for.
 */
export const fileText = async (file: string, kind: string, check?: FileCheck): Promise<string | FileProblem> => {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants
  const opened = await open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY).catch((cause: unknown) => ({ cause }))
  if ('cause' in opened) return notOpened(opened.cause, kind)
  await using handle = opened
  const info = await handle.stat()
  if (!info.isFile()) return notAFile(kind)
  const wrong = await check?.(handle)
  if (wrong !== undefined) return wrong
  const bytes = await bytesOf(handle).catch((cause: unknown) => ({ cause }))
  if ('cause' in bytes) return { problem: 'it cannot be read', advice: 'Check who may read it.', ...bytes }
  if (bytes.length > MOST_BYTES) {
    const size = Math.max(info.size, bytes.length)
    return { problem: `it has ${size} bytes`, advice: `Keep it within ${MOST_BYTES}.` }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    return { problem: 'it is not text in UTF-8', advice: 'Save it as UTF-8.', cause }
  }
}

const notAFile = (kind: string): FileProblem => ({ problem: 'it is not a file', advice: `Name a ${kind} file.` })

const notOpened = (cause: unknown, kind: string): FileProblem => {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EPERM')
    return { problem: 'it cannot be read', advice: 'Check who may read it.', cause }
  // A socket, or a device that nothing is behind.
  if (code === 'ENXIO' || code === 'ENODEV') return { ...notAFile(kind), cause }
  return { problem: 'there is no such file', advice: 'Check the name.', cause }
}

/** At most one byte more than is allowed, whatever the file says of its size: it may grow, or be made as it is read. */
const bytesOf = async (handle: FileHandle): Promise<Buffer> => {
  const bytes = Buffer.alloc(MOST_BYTES + 1)
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

const ADVICE = 'Put it into the folder of the configuration, and name it from there.'
const outside = (how: string): FileProblem => ({
  problem: `it lies outside the configuration's folder${how}`,
  advice: ADVICE,
})

/** Folders of the system whose files are not what somebody wrote, wherever the configuration lies. */
const OF_THE_SYSTEM = ['/proc', '/sys', '/dev']

/**
 * The file of a name in a folder, or why it is none: a configuration may come from anywhere, and must not make us read a
 * file of somebody else's and show it to an agent.
 */
export const fileInside = async (folder: string, name: string): Promise<string | FileProblem> => {
  if (name.includes('\0')) return { problem: 'its name cannot be used', advice: 'Check the name.' }
  if (name.split(/[/\\]/).includes('..')) return outside(' (..)')
  const [home, file] = [resolve(folder), resolve(folder, name)]
  if (!isWithin(home, file)) return outside('')
  // A link that leads out is not even opened: opening a device may do something.
  const real = await realpath(file).catch(() => undefined)
  return real === undefined || isWithin(await realpath(home), real) ? file : outside(' (a link leads there)')
}

/** Whether the file that was opened lies in a folder. The name was checked before, but a link may have changed since. */
export const mustLieIn =
  (folder: string, file: string): FileCheck =>
  async (opened) => {
    const place = await realPathOf(opened, file)
    return place !== undefined && isWithin(await realpath(folder), place) ? undefined : outside(' (a link leads there)')
  }

/** Where an opened file lies. Linux knows; elsewhere the name is followed again, and must lead to the same file. */
const realPathOf = async (opened: FileHandle, file: string): Promise<string | undefined> => {
  const linked = await readlink(`/proc/self/fd/${opened.fd}`).catch(() => undefined)
  if (linked !== undefined) return linked
  const place = await realpath(file).catch(() => undefined)
  const [own, there] = [await opened.stat({ bigint: true }), place && (await lstat(place, { bigint: true }))]
  return there && there.ino === own.ino && there.dev === own.dev ? place : undefined
}

const isWithin = (folder: string, file: string): boolean => {
  const way = relative(folder, file)
  const isBelow = way !== '' && !isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`)
  return isBelow && !OF_THE_SYSTEM.some((place) => file === place || file.startsWith(`${place}/`))
}
