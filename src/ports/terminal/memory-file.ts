import type { Result } from '../../domain/kernel/result.ts'

/** A file that agents read when they start, such as `CLAUDE.md`. It is a person's file: we change one block in it. */
export interface MemoryFile {
  /** The name of the file, for people. */
  readonly path: string
  /** The text of the file; undefined when there is none. Rejects with a `MemoryFileFailure`. */
  read(): Promise<string | undefined>
  /**
   * The beginning of the file as an agent may see it, byte by byte, also of a file that `read` refuses: too large, no UTF-8,
   * or outside of the workspace. Only for looking whether something is in it.
   */
  glance(): Promise<string | undefined>
  /**
   * Replaces the file with the text that a rule makes of it. Asked about its own text, the rule gives that text back. Every
   * implementation keeps these promises:
   * - a reader, also one after a crash, finds the old file or the new one, whole;
   * - changes of our processes come one after the other, and none is lost;
   * - the rule is asked again when the file was changed meanwhile; it may be asked any number of times;
   * - when the rule refuses, or gives the text it got, nothing is written.
   *
   * Rejects with a `MemoryFileFailure`.
   */
  change<R>(rule: (text: string | undefined) => Result<string, R>): Promise<Result<MemoryFileChange, R>>
  /** Whether git keeps the file, or would with the next `git add .`, so that a change of it may end in a commit. */
  isTracked(): Promise<boolean>
}

/** The outcome of a change. */
export interface MemoryFileChange {
  readonly isWritten: boolean
  readonly text: string
}

/** Finds the memory files of a workspace. */
export interface MemoryFiles {
  /**
   * A file of a workspace, by its name in it. A name that leads out of the workspace is refused with a `MemoryFileFailure`;
   * so is a link that does, when the file is used.
   */
  open(workspace: string, name: string): MemoryFile
}

/** The reasons for which a memory file cannot be used. */
export type MemoryFileFailureCode =
  /** Its name, or a link, leads out of the workspace. */
  | 'memory_file.outside'
  /** There is no such workspace, or no folder for the file in it. */
  | 'memory_file.no_folder'
  /** It is a folder, a pipe or a device, or a link to nothing. */
  | 'memory_file.not_a_file'
  | 'memory_file.too_large'
  /** It is not UTF-8. */
  | 'memory_file.not_text'
  /** It is read-only, or its owner or its folder does not let us replace it. */
  | 'memory_file.not_writable'
  /** It has other names, which would keep the old text. */
  | 'memory_file.hard_linked'
  /** Others change it all the time. */
  | 'memory_file.busy'
  /** Somebody wrote into the file while it was replaced. Their text is in a file of its own, which is named. */
  | 'memory_file.conflict'
  /** Anything else; the cause says more. */
  | 'memory_file.failed'

/**
 * A memory file that could not be read or replaced. Its code says why, its message what to do. The file is as it was.
 *
 * @example
 * ```ts
 * const large = new MemoryFileFailure('memory_file.too_large', 'CLAUDE.md is larger than 1 MiB.')
 * console.log(large.code) // => memory_file.too_large
 * ```
 */
export class MemoryFileFailure extends Error {
  override readonly name = 'MemoryFileFailure'
  readonly code: MemoryFileFailureCode

  constructor(code: MemoryFileFailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
