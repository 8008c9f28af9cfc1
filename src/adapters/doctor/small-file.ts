import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The most that is read of any file that is looked at. */
const MOST_BYTES = 1_048_576

/** A file as it was found; no state is worth an exception, as the caller only looks. */
export type FoundFile =
  | { readonly state: 'missing' }
  /** It is no file, too large, or may not be read. */
  | { readonly state: 'unreadable'; readonly why: string }
  | {
      readonly state: 'read'
      readonly text: string
      readonly owner: number
      readonly mode: number
      readonly changedAt: Date
    }

/** Reads a file of any origin whole. A pipe or a device is not waited for, and a large file is not taken in. */
export const readSmallFile = (path: string): FoundFile => readPart(path, false)

/** Reads the last part of a file that grows. */
export const readFileEnd = (path: string): FoundFile => readPart(path, true)

const readPart = (path: string, isEnd: boolean): FoundFile => {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    try {
      const { size, uid, mode, mtime } = fstatSync(file)
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) return { state: 'unreadable', why: 'it is no file' }
      if (!isEnd && size > MOST_BYTES) return { state: 'unreadable', why: 'it is too large' }
      const from = Math.max(0, size - MOST_BYTES)
      const bytes = Buffer.alloc(Math.min(size, MOST_BYTES))
      const count = readSync(file, bytes, 0, bytes.length, from)
      const text = bytes.toString('utf8', 0, count)
      return { state: 'read', text, owner: uid, mode: mode & 0o777, changedAt: mtime }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' }
    return { state: 'unreadable', why: code === 'EACCES' ? 'it may not be read' : `it cannot be read (${code})` }
  }
}

/** The JSON of a text, or nothing where it is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
