import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigurationError, readConfiguration } from '../../src/entry/index.ts'
import type { ConfigurationProblem } from '../../src/entry/ports.ts'

/** A file with a text in it, gone after the test. */
export const fileWith = (text: string | Uint8Array, name = 'batonpass.yaml'): string => {
  const directory = mkdtempSync(join(tmpdir(), 'batonpass-config-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }))
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

/** What is wrong with a configuration; nothing if it can be used. Anything but the typed error gets through. */
export const problemsIn = async (fileOrObject: string | object): Promise<readonly ConfigurationProblem[]> => {
  try {
    await readConfiguration(fileOrObject)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
    throw error
  }
}

/** Problems as lines: where, what, and what to do. */
export const linesIn = async (fileOrObject: string | object): Promise<readonly string[]> =>
  (await problemsIn(fileOrObject)).map(({ path, problem, advice }) => `${path} | ${problem} | ${advice}`)
