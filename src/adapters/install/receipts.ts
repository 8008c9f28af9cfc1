import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join, sep } from 'node:path'
import { sha256 } from '../../ports/system/sha256.ts'
import type { JsonPath } from './json-document.ts'
import { readSettingsFile, replaceFile } from './settings-file.ts'

/** An installation that has its entries in a file. Several scopes may share one: then each has a holder in the note. */
export interface Holder {
  readonly scope: string
  /** The folder that the installation is for. */
  readonly folder: string
  /** The place in the file, where each installation has one of its own. */
  readonly slot?: string
}

/** A note about a file that was changed: all that is needed to give it back. */
export interface InstallReceipt {
  readonly v: 1
  readonly file: string
  /** Whether the file was there before. */
  readonly existed: boolean
  /** The digest of the file as it was written. As long as it is that, nobody else has changed it. */
  readonly written: string
  /** The containers that were made in it. */
  readonly made: readonly JsonPath[]
  /** The folders that were made for it, innermost first. */
  readonly folders: readonly string[]
  /** The bytes it had before, in base64. */
  readonly original?: string
  /** The installations that have entries in it. */
  readonly holders?: readonly Holder[]
}

/** The digest of a file. */
export const digestOf = (bytes: Uint8Array): string => Buffer.from(sha256(bytes)).toString('hex')

/** The notes of one person. They hold what stood in the settings, so only that person may read them. */
export class Receipts {
  readonly #folder: string

  /** @param folder the folder of the service, which belongs to the person */
  constructor(folder: string) {
    this.#folder = join(folder, 'installs')
  }

  /** The note about a file. One that cannot be read is none. */
  read(target: string): InstallReceipt | undefined {
    const note = readNote(this.#fileOf(target))
    return note?.file === target ? note : undefined
  }

  /** Keeps a note, in place of an earlier one about the same file. */
  keep(note: InstallReceipt): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const { mode } = lstatSync(this.#folder)
    if ((mode & 0o022) !== 0) throw new Error(`Others may write to ${this.#folder}. Make it yours alone: chmod 700.`)
    const found = readSettingsFile(this.#fileOf(note.file))
    if (!found.ok) throw new Error(found.error.message)
    replaceFile({ ...found.value, mode: 0o600 }, Buffer.from(`${JSON.stringify(note)}\n`))
  }

  /**
   * Forgets notes, and removes the folders that were made for their files as far as nothing else is in them. A folder that
   * holds a file of another installation goes with that one.
   */
  forget(targets: readonly string[]): void {
    const folders = targets.flatMap((target) => this.read(target)?.folders ?? [])
    for (const target of targets) rmSync(this.#fileOf(target), { force: true })
    for (const folder of folders.toSorted((one, other) => other.length - one.length))
      if (!isRemoved(folder)) this.#passOn(folder)
  }

  #passOn(folder: string): void {
    const heir = this.#all().find(({ file }) => file.startsWith(`${folder}${sep}`))
    if (heir !== undefined && !heir.folders.includes(folder)) this.keep({ ...heir, folders: [...heir.folders, folder] })
  }

  #all(): readonly InstallReceipt[] {
    const names = existsSync(this.#folder) ? readdirSync(this.#folder) : []
    return names.flatMap((name) => readNote(join(this.#folder, name)) ?? [])
  }

  #fileOf(target: string): string {
    return join(this.#folder, `${digestOf(Buffer.from(target)).slice(0, 32)}.json`)
  }
}

const readNote = (path: string): InstallReceipt | undefined => {
  const found = readSettingsFile(path)
  if (!found.ok || found.value.bytes === undefined) return undefined
  try {
    const note = JSON.parse(found.value.bytes.toString('utf8')) as InstallReceipt
    const isNote = note.v === 1 && typeof note.file === 'string'
    return isNote && Array.isArray(note.made) && Array.isArray(note.folders) ? note : undefined
  } catch {
    return undefined
  }
}

/** Whether a folder is gone. One that holds something of the person's stays. */
const isRemoved = (folder: string): boolean => {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return !existsSync(folder)
  }
}
