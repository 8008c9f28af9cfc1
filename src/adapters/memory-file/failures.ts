import { MemoryFileFailure } from '../../ports/terminal/memory-file.ts'

/** The code that the system gave a problem. */
export const codeOf = (problem: unknown): string => (problem as NodeJS.ErrnoException).code ?? 'unknown'

/** Does something with a file. A problem of the system is told with the name of the file, and what to do. */
export const withFile = async <T>(path: string, work: () => T | Promise<T>): Promise<T> => {
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
