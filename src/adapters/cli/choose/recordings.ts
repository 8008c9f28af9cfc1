import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../invocation/command-problems.ts'

/** A file to read, and whether it was named itself or found in a folder. */
export interface RecordingFile {
  readonly path: string
  readonly bytes: number
  readonly isNamed: boolean
}

/** Files as named, and every recording below a named folder. */
export const recordingFiles = async (paths: readonly string[]): Promise<readonly RecordingFile[]> => {
  const found: RecordingFile[] = []
  for (const path of paths) {
    const info = await stat(path).catch((cause: unknown) => {
      throw new UsageError(`There is no file or folder "${path}".`, { cause })
    })
    if (info.isDirectory()) found.push(...(await filesBelow(path)))
    else found.push({ path, bytes: info.size, isNamed: true })
  }
  if (found.length === 0) throw new UsageError('There is no .jsonl file below the folder.')
  return found
}

const filesBelow = async (folder: string): Promise<readonly RecordingFile[]> => {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl')).sort()
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      return { path, bytes: (await stat(path)).size, isNamed: false }
    }),
  )
}

/** Longer lines are not held in memory: no record is that long, and a file without line ends is no recording. */
const LONGEST_LINE = 64 * 1024 * 1024

const NEW_LINE = 0x0a

/** The replacement of a line that is too long. It is no JSON, so it is counted as damaged like any other. */
const TOO_LONG = '(too long)'

/** How to read. */
export interface ReadLinesOptions {
  readonly longest?: number
  /** Told how many bytes were read. */
  readonly onBytes?: (bytes: number) => void
}

/** The lines of a file, one at a time, in memory for one of them. */
export async function* readLines(file: string, options: ReadLinesOptions = {}): AsyncGenerator<string> {
  const { longest = LONGEST_LINE, onBytes } = options
  let parts: Buffer[] = []
  let length = 0
  const keep = (part: Buffer): void => {
    length += part.length
    if (length <= longest) parts.push(part)
    else parts = []
  }
  const line = (): string => {
    const text = length > longest ? TOO_LONG : Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return text
  }
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, start)) {
      keep(chunk.subarray(start, end))
      yield line()
      start = end + 1
    }
    keep(chunk.subarray(start))
    onBytes?.(chunk.length)
  }
  if (length > 0) yield line()
}
