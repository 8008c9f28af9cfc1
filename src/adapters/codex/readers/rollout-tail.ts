import { type FileHandle, open, stat } from 'node:fs/promises'

/** Longer lines are left out. A compaction writes a whole history into one. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

/** Follows a file of JSON lines while it grows: each line is read once, and only when all of it is there. */
export class RolloutTail {
  readonly path: string
  readonly #maxLineBytes: number
  #offset: number
  /** The beginning of a line whose end is not written yet. */
  #partial: Buffer[] = []
  #partialBytes = 0

  constructor(path: string, from = 0, maxLineBytes: number = MAX_LINE_BYTES) {
    this.path = path
    this.#offset = from
    this.#maxLineBytes = maxLineBytes
  }

  /** Follows what comes after what a file holds now. */
  static async fromEnd(path: string): Promise<RolloutTail> {
    return new RolloutTail(path, (await stat(path)).size)
  }

  /** Whether the file holds something that was not read yet. One that is gone does not. */
  async hasGrown(): Promise<boolean> {
    const file = await stat(this.path).catch(() => undefined)
    return file !== undefined && file.size > this.#offset
  }

  /** New records of the file. A damaged line is left out. */
  async *records(): AsyncGenerator<unknown> {
    const file = await open(this.path, 'r')
    try {
      for (let chunk = await this.#next(file); chunk.length > 0; chunk = await this.#next(file)) {
        for (const line of this.#linesIn(chunk)) {
          const record = parsed(line)
          if (record !== undefined) yield record
        }
      }
    } finally {
      await file.close()
    }
  }

  async #next(file: FileHandle): Promise<Buffer> {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, this.#offset)
    this.#offset += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  /** All of them at once, so that a caller that stops between two records loses those of one chunk and no half line. */
  #linesIn(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end))
      if (this.#partialBytes <= this.#maxLineBytes) lines.push(Buffer.concat(this.#partial))
      this.#partial = []
      this.#partialBytes = 0
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
    return lines
  }

  #keep(part: Buffer): void {
    this.#partialBytes += part.length
    if (this.#partialBytes <= this.#maxLineBytes) this.#partial.push(part)
  }
}

const parsed = (line: Buffer): unknown => {
  try {
    return JSON.parse(line.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
