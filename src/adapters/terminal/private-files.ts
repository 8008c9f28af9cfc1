import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder for its owner only. */
export const privateFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** Replaces a file, for its owner only: whoever reads it finds the old one or the new one, whole. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${randomUUID().slice(0, 8)}.new`
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // The folder was taken away while we ran.
    await privateFolder(dirname(path))
    await writeFile(path, text, { mode: 0o600 })
  }
}
