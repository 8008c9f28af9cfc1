import { type FileHandle, lstat, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { FileCheck, FileProblem } from './file-text.ts'

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
    const place = await placeOf(opened, file)
    return place !== undefined && isWithin(await realpath(folder), place) ? undefined : outside(' (a link leads there)')
  }

/** Where an opened file lies. Linux knows; elsewhere the name is followed again, and must lead to the same file. */
const placeOf = async (opened: FileHandle, file: string): Promise<string | undefined> => {
  const known = await readlink(`/proc/self/fd/${opened.fd}`).catch(() => undefined)
  if (known !== undefined) return known
  const place = await realpath(file).catch(() => undefined)
  const [own, there] = [await opened.stat({ bigint: true }), place && (await lstat(place, { bigint: true }))]
  return there && there.ino === own.ino && there.dev === own.dev ? place : undefined
}

const isWithin = (folder: string, file: string): boolean => {
  const way = relative(folder, file)
  const isBelow = way !== '' && !isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`)
  return isBelow && !OF_THE_SYSTEM.some((place) => file === place || file.startsWith(`${place}/`))
}
