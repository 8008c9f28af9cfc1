import { type BigIntStats, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

const numberOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`

/** The device of a file or folder and its number there, whatever it is called; nothing when there is none. */
export const numberAt = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && numberOf(found)
}

/** More than the part that matters of the files that are looked into: a lock, and the control file of a database. */
const LOOKED_AT = 1_024

/** A file that is kept open: as long as it is, no other file gets its number, not even after it was deleted. */
class PinnedFile {
  readonly #path: string
  readonly #file: number
  readonly #number: string
  #content: Buffer

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r')
    this.#number = numberOf(fstatSync(this.#file, { bigint: true }))
    this.#content = this.#read()
  }

  /** Whether the path still leads to this file. */
  isThere(): boolean {
    return numberAt(this.#path) === this.#number
  }

  /** Whether somebody wrote to it since it was last remembered: `cp` writes into the file that is there. */
  isOverwritten(): boolean {
    return !this.#read().equals(this.#content)
  }

  remember(): void {
    this.#content = this.#read()
  }

  unpin(): void {
    closeSync(this.#file)
  }

  #read(): Buffer {
    const content = Buffer.alloc(LOOKED_AT)
    return content.subarray(0, readSync(this.#file, content, 0, LOOKED_AT, 0))
  }
}

/**
 * The database that a process found in a folder. It is known by the folder of its files and by its control file, which the
 * engine never replaces: a backup may be unpacked into the same folder.
 */
export class KnownDatabase {
  readonly #data: string
  readonly #number: string | undefined
  protected readonly control: PinnedFile

  constructor(folder: string) {
    this.#data = join(folder, 'data')
    this.control = new PinnedFile(join(this.#data, 'global', 'pg_control'))
    this.#number = numberAt(this.#data)
  }

  /** The difference to what was found, as the end of a sentence; nothing while its path leads to it. */
  change(): string | undefined {
    const now = numberAt(this.#data)
    if (now === undefined) return 'it was removed or moved away'
    if (now !== this.#number) return 'it was removed or moved away, and another one is in its place'
    return this.control.isThere() ? undefined : 'another database was put into its folder, such as a backup'
  }

  /** Its numbers may be given to other files from now on. */
  unpin(): void {
    this.control.unpin()
  }
}

/** The database that this process has open, and the lock that says so. Nobody else may write to either. */
export class HeldDatabase extends KnownDatabase {
  readonly #lock: PinnedFile

  constructor(folder: string) {
    super(folder)
    this.#lock = new PinnedFile(join(folder, 'lock'))
  }

  override change(): string | undefined {
    const change = super.change()
    if (change !== undefined) return change
    if (this.control.isOverwritten()) return 'its files were written over, perhaps by a backup'
    const isLocked = this.#lock.isThere() && !this.#lock.isOverwritten()
    return isLocked ? undefined : 'its lock was removed or replaced, so another process may have it'
  }

  /** After the engine has worked: it writes to the control file itself. */
  remember(): void {
    this.control.remember()
  }

  override unpin(): void {
    super.unpin()
    this.#lock.unpin()
  }
}
