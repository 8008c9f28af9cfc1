import { readFile, stat } from 'node:fs/promises'
import { ConfigurationError } from '../../domain/configuration.ts'

/** More than anybody writes by hand, and little enough to read at once. */
const MOST_BYTES = 256 * 1024

/** The text of a configuration file. */
export const fileText = async (file: string): Promise<string> => {
  const info = await stat(file).catch((cause: unknown) => refuse('there is no such file', 'Check the name.', cause))
  if (!info.isFile()) refuse('it is not a file', 'Name a YAML or JSON file.')
  if (info.size > MOST_BYTES) refuse(`it has ${info.size} bytes`, `Keep it within ${MOST_BYTES}.`)
  const bytes = await readFile(file).catch((cause: unknown) =>
    refuse('it cannot be read', 'Check who may read it.', cause),
  )
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    return refuse('it is not text in UTF-8', 'Save it as UTF-8.', cause)
  }
}

const refuse = (problem: string, advice: string, cause?: unknown): never => {
  throw new ConfigurationError([{ path: '', problem, advice }], { cause })
}
