import { closeSync, constants, fstatSync, openSync, readSync, type renameSync } from 'node:fs'
import type { Result } from '../../domain/kernel/result.ts'
import {
  type MemoryFile,
  type MemoryFileChange,
  MemoryFileFailure,
  type MemoryFiles,
} from '../../ports/terminal/memory-file.ts'
import { FolderBusy, removeAbandoned, withFolder } from '../files/folder-lock.ts'
import { codeOf } from '../files/own-files.ts'
import { filePlaceOf, nameWithin } from './place.ts'
import { changeFile, type Rule } from './replace.ts'
import { openText } from './text-file.ts'

/** The parts that memory files need from others. */
export interface FileMemoryDeps {
  /** Whether git keeps a file, or would with the next `git add .`. */
  readonly isTracked: (folder: string, path: string) => Promise<boolean>
  /** Moves a file over another one; `renameSync` unless given. */
  readonly rename?: typeof renameSync
}

/** Memory files on the disk of this machine. */
export class FileMemoryFiles implements MemoryFiles {
  readonly #deps: FileMemoryDeps

  constructor(deps: FileMemoryDeps) {
    this.#deps = deps
  }

  open(workspace: string, name: string): MemoryFile {
    return new FileMemoryFile(this.#deps, workspace, nameWithin(workspace, name))
  }
}

class FileMemoryFile implements MemoryFile {
  readonly path: string
  readonly #deps: FileMemoryDeps
  readonly #workspace: string

  constructor(deps: FileMemoryDeps, workspace: string, path: string) {
    this.#deps = deps
    this.#workspace = workspace
    this.path = path
  }

  async read(): Promise<string | undefined> {
    return withFile(this.path, () => {
      const { folder, target } = filePlaceOf(this.#workspace, this.path)
      // A process that was killed may have left a whole copy of the file.
      removeAbandoned(folder)
      const file = openText(target)
      file?.close()
      return file?.text
    })
  }

  async glance(): Promise<string | undefined> {
    return withFile(this.path, () => glanceAt(this.path))
  }

  async change<R>(rule: Rule<R>): Promise<Result<MemoryFileChange, R>> {
    const [workspace, path, { rename }] = [this.#workspace, this.path, this.#deps]
    return withFile(path, async () => {
      const { folder } = filePlaceOf(workspace, path)
      const work = () => changeFile({ workspace, path, folder, rule, ...(rename && { rename }) })
      return await withFolder(folder, work).catch((problem: unknown) => {
        throw problem instanceof FolderBusy ? busy(problem) : problem
      })
    })
  }

  async isTracked(): Promise<boolean> {
    const { folder, target } = await withFile(this.path, () => filePlaceOf(this.#workspace, this.path))
    return this.#deps.isTracked(folder, target)
  }
}

/** Agents read no more of a memory file. */
const GLANCE_BYTES = 16 * 1024 * 1024

/** The beginning of a file, a character for each byte; undefined when there is no file of that name. */
const glanceAt = (path: string): string | undefined => {
  // Not blocked by a pipe that nobody writes to.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return undefined
    const bytes = Buffer.alloc(Math.min(stats.size, GLANCE_BYTES))
    const read = readSync(descriptor, bytes, 0, bytes.length, 0)
    return bytes.toString('latin1', 0, read)
  } finally {
    closeSync(descriptor)
  }
}

/** Does something with a file. A problem of the system becomes one that names the file, and says what to do. */
const withFile = async <T>(path: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (problem) {
    // Only calls of the system have one; an error of a rule is its own.
    throw (problem as NodeJS.ErrnoException).syscall === undefined ? problem : failureOf(path, problem)
  }
}

const FORBIDDEN = new Set(['EACCES', 'EPERM', 'EROFS'])

const failureOf = (path: string, cause: unknown): MemoryFileFailure => {
  const code = codeOf(cause)
  if (FORBIDDEN.has(code)) {
    const advice = 'Check the rights of the file and of its folder, or use another file.'
    return new MemoryFileFailure('memory_file.not_writable', `${path} cannot be used (${code}). ${advice}`, { cause })
  }
  const advice =
    code === 'ENOSPC' || code === 'EDQUOT' ? 'Make space on the disk.' : 'Look at the cause, and try again.'
  return new MemoryFileFailure('memory_file.failed', `${path} could not be read or replaced (${code}). ${advice}`, {
    cause,
  })
}

const busy = (problem: FolderBusy): MemoryFileFailure => {
  const advice = `Try again, or end that process. If there is none, delete ${problem.lock}.`
  return new MemoryFileFailure('memory_file.busy', `${problem.message} ${advice}`, { cause: problem })
}
