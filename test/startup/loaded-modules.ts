import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a program loads: how many modules of ours, and which packages. */
export interface Loaded {
  readonly ours: number
  readonly packages: readonly string[]
}

/** Runs a program of this project in a process of its own and says what was loaded until it ended. */
export const loadedBy = async (...program: readonly string[]): Promise<Loaded> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-startup-'))
  const notes = join(folder, 'modules')
  try {
    const imports = ['--import', 'tsx', '--import', resolve('test/startup/note-modules.ts')]
    await run(process.execPath, [...imports, ...program], { env: { ...process.env, NOTE_MODULES: notes } })
    return sorted(readFileSync(notes, 'utf8').trim().split('\n'))
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

const sorted = (addresses: readonly string[]): Loaded => {
  const packages = addresses.flatMap((address) => address.match(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? [])
  return {
    ours: new Set(addresses.filter((address) => !address.includes('/node_modules/'))).size,
    packages: [...new Set(packages)].sort(),
  }
}
