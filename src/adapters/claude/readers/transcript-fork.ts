import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { TranscriptFork } from '../../../ports/terminal/terminal-files.ts'

/** So many transcripts beside a fork are looked into, the newest, and none that is larger. */
const MOST_FILES = 40
const MOST_BYTES = 64 * 1024 * 1024

const UUID = /"uuid":"([^"]+)"/g

/**
 * Finds the sessions that a transcript may be a fork of, the likeliest first. Claude Code does not name the source: it
 * copies the records with their ids, so the source is the transcript beside it that has the most of them.
 */
export const claudeForkOf = async (path: string): Promise<readonly TranscriptFork[]> => {
  if ((await stat(path)).size > MOST_BYTES) return []
  const ids = (await readFile(path, 'utf8')).split('\n').flatMap(idIn)
  const found: TranscriptFork[] = []
  for (const beside of await newestBeside(path)) {
    const theirs = new Set(Array.from((await readFile(beside, 'utf8')).matchAll(UUID), ([, id]) => id))
    const firstOwn = ids.findIndex((id) => id !== undefined && !theirs.has(id))
    const copied = ids.slice(0, firstOwn === -1 ? ids.length : firstOwn).findLastIndex((id) => id !== undefined) + 1
    if (copied > 0) found.push({ source: basename(beside, '.jsonl'), copied })
  }
  return found.sort((one, other) => other.copied - one.copied)
}

/** The id of a record, which may have none. Nothing of a line that is no record. */
const idIn = (line: string): readonly (string | undefined)[] => {
  try {
    const { uuid } = JSON.parse(line) as { readonly uuid?: unknown }
    return [typeof uuid === 'string' ? uuid : undefined]
  } catch {
    return []
  }
}

const newestBeside = async (path: string): Promise<readonly string[]> => {
  const names = (await readdir(dirname(path))).filter((name) => name.endsWith('.jsonl') && name !== basename(path))
  const files = await Promise.all(
    names.map(async (name) => {
      const file = join(dirname(path), name)
      const { mtimeMs, size } = await stat(file)
      return { file, mtimeMs, size }
    }),
  )
  return files
    .filter(({ size }) => size <= MOST_BYTES)
    .sort((one, other) => other.mtimeMs - one.mtimeMs)
    .slice(0, MOST_FILES)
    .map(({ file }) => file)
}
