import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
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
