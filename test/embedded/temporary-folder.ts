import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of this test's own; a test that fails leaves it behind, to be looked at. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-embedded-'))
  onTestFinished(({ task }) => {
    if (task.result?.state === 'pass') rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return folder
}

/** What is in a store's folder, but for the sockets of its holder and the file that keeps it out of git. */
export const contentsOf = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('pulse-') && !name.startsWith('door-') && name !== '.gitignore')
    .toSorted()
