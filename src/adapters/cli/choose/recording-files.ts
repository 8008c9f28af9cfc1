import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../tree/problems.ts'

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
