import type { renameSync } from 'node:fs'
import type { Result } from '../../domain/kernel/result.ts'
import type { MemoryFile, MemoryFileChange, MemoryFiles } from '../../ports/terminal/memory-file.ts'
import { withFile } from './failures.ts'
import { removeAbandoned, withFolder } from './folder-lock.ts'
import { glanceAt } from './glance.ts'
import { nameWithin, placeOf } from './place.ts'
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
      const { folder, target } = placeOf(this.#workspace, this.path)
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
      const { folder } = placeOf(workspace, path)
      return await withFolder(folder, () => changeFile({ workspace, path, folder, rule, ...(rename && { rename }) }))
    })
  }

  async isTracked(): Promise<boolean> {
    const { folder, target } = await withFile(this.path, () => placeOf(this.#workspace, this.path))
    return this.#deps.isTracked(folder, target)
  }
}
