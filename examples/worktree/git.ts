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

/** A new repository, and a worktree of it with a branch of its own: what an orchestrator sets up for a job. */
export const makeWorktree = async (folder: string, branch: string) => {
  const workingDirectory = join(folder, 'repository')
  const worktreePath = join(folder, 'worktrees', branch)
  await mkdir(workingDirectory, { recursive: true })
  await git(workingDirectory, 'init', '--quiet', '--initial-branch=main')
  await git(workingDirectory, 'commit', '--quiet', '--allow-empty', '--message', 'Begin')
  await git(workingDirectory, 'worktree', 'add', '--quiet', '-b', branch, worktreePath)
  return { workingDirectory, worktreePath, branch }
}
