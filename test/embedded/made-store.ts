import { readFileSync } from 'node:fs'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'

/** A migrated database to begin from: making one from nothing takes seconds. */
export const dump = (): Blob => {
  const path = process.env.TEST_PGLITE_DUMP
  if (path === undefined) throw new Error('TEST_PGLITE_DUMP is not set: run through "npm test" or "npx vitest"')
  return new Blob([readFileSync(path)])
}

/** Makes an embedded store in a folder and closes it again. */
export const makeStore = async (dataDir: string): Promise<void> => {
  const store = await openPglite({ dataDir, loadDataDir: dump() })
  await store[Symbol.asyncDispose]()
}
