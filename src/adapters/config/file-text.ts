import { readFile, stat } from 'node:fs/promises'
import type { FoundProblem } from '../../domain/milestone-settings.ts'

/** More than anybody writes by hand, and little enough to read at once. */
const MOST_BYTES = 256 * 1024

/** What is wrong with a file, and what to do about it. */
export type FileProblem = Omit<FoundProblem, 'path'> & { readonly cause?: unknown }

/** The text of a file somebody wrote, or why there is none. */
export const fileText = async (file: string, kind: string): Promise<string | FileProblem> => {
  try {
    const info = await stat(file)
    if (!info.isFile()) return { problem: 'it is not a file', advice: `Name a ${kind} file.` }
    if (info.size > MOST_BYTES) return { problem: `it has ${info.size} bytes`, advice: `Keep it within ${MOST_BYTES}.` }
  } catch (cause) {
    return { problem: 'there is no such file', advice: 'Check the name.', cause }
  }
  const bytes = await readFile(file).catch((cause: unknown) => ({ cause }))
  if ('cause' in bytes) return { problem: 'it cannot be read', advice: 'Check who may read it.', ...bytes }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    return { problem: 'it is not text in UTF-8', advice: 'Save it as UTF-8.', cause }
  }
}
