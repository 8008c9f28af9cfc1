import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs git in a folder and answers with what it printed. Whose name the commits bear is said here, not on your machine. */
export const git = async (folder: string, ...args: readonly string[]): Promise<string> => {
  const who = ['-c', 'user.name=example', '-c', 'user.email=example@localhost', '-c', 'commit.gpgsign=false']
  const { stdout } = await run('git', [...who, ...args], { cwd: folder })
  return stdout.trim()
}

/** A new repository with one commit. Its worktree is made by the run. */
export const makeRepository = async (folder: string): Promise<string> => {
  const workingDirectory = join(folder, 'repository')
  await mkdir(workingDirectory, { recursive: true })
  await git(workingDirectory, 'init', '--quiet', '--initial-branch=main')
  await git(workingDirectory, 'commit', '--quiet', '--allow-empty', '--message', 'Begin')
  return workingDirectory
}
