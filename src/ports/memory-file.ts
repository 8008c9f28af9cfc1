import type { Result } from '../domain/kernel/result.ts'

/** A file that agents read when they start, such as `CLAUDE.md`. It is a person's file: we change one block in it. */
export interface MemoryFile {
  /** The name of the file, for people. */
  readonly path: string
  /** The text of the file; undefined when there is none. Rejects with a `MemoryFileFailure`. */
  read(): Promise<string | undefined>
  /**
   * Replaces the file with the text that a rule makes of it. Every implementation keeps these promises:
   * - a reader, and whoever comes after a crash, finds the old file or the new one, whole;
   * - changes of our processes come one after the other, and none is lost;
   * - the rule is asked again when the file was changed meanwhile; it may be asked any number of times;
   * - when the rule refuses, or gives the text it got, nothing is written.
   */
  change<R>(rule: (text: string | undefined) => Result<string, R>): Promise<Result<MemoryFileChange, R>>
  /** Whether git keeps the file, so that a change of it may end in a commit. */
  isTracked(): Promise<boolean>
}

/** The outcome of a change. */
export interface MemoryFileChange {
  readonly isWritten: boolean
  readonly text: string
}

/** Finds the memory files of a workspace. */
export interface MemoryFiles {
  /** A file of a workspace, by its name in it. A name or a link that leads out of the workspace is refused with a `MemoryFileFailure`. */
  open(workspace: string, name: string): MemoryFile
}
