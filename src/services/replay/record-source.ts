import type { WindowReader } from '../../ports/agent/window-reader.ts'

/** No reader knows this recording. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError'
}

/** How the format of a recording is found out. */
export interface RecordSourceOptions {
  readonly readers: readonly WindowReader[]
  /** Take the recording to be of this format instead of looking. */
  readonly format?: string
}

/** Records that were held back until somebody knew them are as many as this, and then nobody will. */
const RECORDS_TO_LOOK_AT = 200

/** Parses lines, and finds out whose they are from the first ones that say so. */
export class RecordSource {
  readonly #readers: readonly WindowReader[]
  #held: unknown[] = []
  reader: WindowReader | undefined
  lines = 0
  /** Lines that are no JSON. */
  damaged = 0

  constructor({ readers, format }: RecordSourceOptions) {
    this.#readers = readers
    if (format === undefined) return
    this.reader = readers.find((reader) => reader.format === format)
    if (this.reader === undefined) throw new UnknownFormatError(`There is no format "${format}". ${this.#known()}`)
  }

  /** The records that can be read now: none while nobody knows whose they are, then all that were held back. */
  take(line: string): readonly unknown[] {
    this.lines += 1
    const record = this.#parse(line)
    if (record === undefined) return []
    if (this.reader !== undefined) return [record]
    this.#held.push(record)
    this.reader = this.#readers.find((reader) => reader.recognises(record))
    if (this.reader === undefined && this.#held.length >= RECORDS_TO_LOOK_AT) throw this.#unknown()
    return this.reader === undefined ? [] : this.#held.splice(0)
  }

  /** Says that there are no more lines. */
  end(): void {
    if (this.reader === undefined && (this.#held.length > 0 || this.damaged > 0)) throw this.#unknown()
  }

  #parse(line: string): unknown {
    if (line.trim() === '') return undefined
    try {
      return JSON.parse(line) as unknown
    } catch {
      this.damaged += 1
      return undefined
    }
  }

  #unknown(): UnknownFormatError {
    return new UnknownFormatError(`This is no recording of a known runtime. ${this.#known()}`)
  }

  #known(): string {
    return `Known formats: ${this.#readers.map(({ format }) => format).join(', ')}.`
  }
}
