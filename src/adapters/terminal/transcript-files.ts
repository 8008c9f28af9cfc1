import { lstat, realpath } from 'node:fs/promises'
import { extname, isAbsolute, sep } from 'node:path'
import type { TerminalFacts } from '../../ports/agent/vendor.ts'
import type { Environment } from '../../ports/system/environment.ts'
import type { TranscriptFiles, TranscriptTail } from '../../ports/terminal/terminal-files.ts'

/**
 * The transcripts of this user's runtimes. A hook names the path, and whatever names it could name any file: only a
 * regular `.jsonl` file below the folder that the runtime itself writes to is read, and no link leads out of it.
 */
export const transcriptFiles = (
  environment: Environment,
  tailOf: (path: string) => TranscriptTail,
  transcriptsOf: (runtime: string) => TerminalFacts['transcripts'],
): TranscriptFiles => ({
  follow: async (runtime, path) => {
    const checked = (): Promise<string | undefined> => allowed(transcriptsOf(runtime).folder(environment), path)
    const found = await checked()
    if (found === undefined) return undefined
    const tail = tailOf(found)
    return { records: () => recordsIf(async () => (await checked()) === found, tail) }
  },
  forkOf: async (runtime, path) => {
    const { folder, forkOf } = transcriptsOf(runtime)
    const found = await allowed(folder(environment), path)
    return found === undefined ? [] : forkOf(found)
  },
})

/** Looked at before every reading: the file may have become something else since the last. */
async function* recordsIf(isAllowed: () => Promise<boolean>, tail: TranscriptTail): AsyncGenerator<unknown, void> {
  if (await isAllowed()) yield* tail.records()
}

const allowed = async (folder: string, path: string): Promise<string | undefined> => {
  if (!isAbsolute(path) || extname(path) !== '.jsonl') return undefined
  try {
    const [root, found] = [await realpath(folder), await realpath(path)]
    const isInside = found.startsWith(`${root}${sep}`) && extname(found) === '.jsonl'
    return isInside && (await lstat(path)).isFile() ? found : undefined
  } catch {
    // What is not there, or cannot be looked at, is not read.
    return undefined
  }
}
