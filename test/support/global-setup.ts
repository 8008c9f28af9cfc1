import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { CLONE } from './clean-room.ts'
import { startDatabases } from './test-databases.ts'

/** Where this run keeps the programs that its tests start: inside the clone, so that packages are found from them. */
const makeFolderOfPrograms = (): string => {
  // Git ignores `reports`.
  mkdirSync(join(CLONE, 'reports'), { recursive: true })
  return mkdtempSync(join(CLONE, 'reports', 'programs-'))
}

/** Starts what the tests need before the first file, and ends it after the last. */
export const setup = async ({ config }: TestProject): Promise<() => Promise<void>> => {
  // A watching run reads the sources again and again, and so must its programs.
  const programs = config.watch ? undefined : makeFolderOfPrograms()
  if (programs !== undefined) process.env.TEST_PROGRAMS = programs
  const isGiven = process.env.TEST_DATABASE_TEMPLATE !== undefined
  const databases = isGiven ? undefined : await startDatabases()
  Object.assign(process.env, databases?.environment)
  return async () => {
    await databases?.stop()
    if (programs !== undefined) rmSync(programs, { recursive: true, force: true, maxRetries: 10 })
  }
}
