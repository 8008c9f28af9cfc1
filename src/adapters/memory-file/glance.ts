import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Agents read no more of a memory file. */
const MOST_BYTES = 16 * 1024 * 1024

/** The beginning of a file, a character for each byte; undefined when there is no file of that name. */
export const glanceAt = (path: string): string | undefined => {
  // Not blocked by a pipe that nobody writes to.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return undefined
    const bytes = Buffer.alloc(Math.min(stats.size, MOST_BYTES))
    const read = readSync(descriptor, bytes, 0, bytes.length, 0)
    return bytes.toString('latin1', 0, read)
  } finally {
    closeSync(descriptor)
  }
}
