import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs'
import { MemoryFileFailure } from '../../ports/terminal/memory-file.ts'
import { codeOf } from '../files/own-files.ts'

/** The most that is read or written: memory files are read by agents at every start, and are small. */
export const MOST_BYTES = 1024 * 1024

/** A file as it was read. It stays open: a program that writes into it later, under no name, is noticed. */
export interface TextFile {
  readonly descriptor: number
  readonly stats: Stats
  readonly bytes: Buffer
  readonly text: string
  close(): void
}

/**
 * Opens a file and reads all of it. Undefined when there is none.
 *
 * @throws MemoryFileFailure when it is no file, too large, or no UTF-8
 */
export const openText = (target: string): TextFile | undefined => {
  const descriptor = descriptorOf(target)
  if (descriptor === undefined) return undefined
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw notAFile(target)
    if (stats.size > MOST_BYTES) throw tooLarge(target)
    const bytes = openedBytes(descriptor)
    return { descriptor, stats, bytes, text: decodedText(target, bytes), close: () => closeSync(descriptor) }
  } catch (problem) {
    closeSync(descriptor)
    throw problem
  }
}

const descriptorOf = (target: string): number | undefined => {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants
  try {
    return openSync(target, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
  } catch (problem) {
    if (codeOf(problem) === 'ENOENT') return undefined
    // A socket cannot be opened, and a link that was put here just now is not followed.
    if (codeOf(problem) === 'ENXIO' || codeOf(problem) === 'ELOOP') throw notAFile(target, problem)
    throw problem
  }
}

/** Everything that an open file holds now. */
export const openedBytes = (descriptor: number): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at <= MOST_BYTES; ) {
    const part = Buffer.alloc(64 * 1024)
    const count = readSync(descriptor, part, 0, part.length, at)
    if (count === 0) break
    parts.push(part.subarray(0, count))
    at += count
  }
  return Buffer.concat(parts)
}

/** Reads bytes as UTF-8, a byte order mark included. */
export const decodedText = (target: string, bytes: Buffer): string => {
  if (bytes.length > MOST_BYTES) throw tooLarge(target)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    const advice = 'Save it as UTF-8, or use another file.'
    throw new MemoryFileFailure('memory_file.not_text', `${target} is not UTF-8 text. ${advice}`, { cause })
  }
}

/** Whether a path still has the file that was read, with the same bytes. The path comes last: nothing is as short as that. */
export const isStill = (target: string, file: TextFile | undefined): boolean => {
  const isUnwritten = file === undefined || openedBytes(file.descriptor).equals(file.bytes)
  const now = lstatSync(target, { throwIfNoEntry: false })
  if (now === undefined || file === undefined) return now === file
  const { ino, dev, size, mtimeMs, mode } = file.stats
  const isSame = now.ino === ino && now.dev === dev && now.size === size && now.mtimeMs === mtimeMs
  return isSame && now.mode === mode && isUnwritten
}

/** The failure of a file that is too large. */
export const tooLarge = (target: string): MemoryFileFailure =>
  new MemoryFileFailure('memory_file.too_large', `${target} is larger than 1 MiB. Shorten it, or use another file.`)

const notAFile = (target: string, cause?: unknown): MemoryFileFailure =>
  new MemoryFileFailure('memory_file.not_a_file', `${target} is not a file. Name one that is.`, { cause })
