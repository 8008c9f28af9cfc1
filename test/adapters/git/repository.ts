import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const WHO = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false']

/** Calls git in a folder and answers with what it printed. */
export const gitIn = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', [...WHO, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim()

/** A folder that is gone after the test. */
export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-git-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** A repository with one commit on `main`. */
export const repository = (): string => {
  const folder = temporaryFolder()
  gitIn(folder, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(join(folder, 'README.md'), 'Hello\n')
  gitIn(folder, 'add', '.')
  gitIn(folder, 'commit', '--quiet', '--message', 'Begin')
  return folder
}
