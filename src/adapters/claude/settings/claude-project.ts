import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The name under which Claude Code keeps what belongs to a project: the root of its repository, or the folder itself. */
export const claudeProjectOf = (workingFolder: string): string => {
  const folder = realFolder(workingFolder)
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, '.git')
    const found = statSync(git, { throwIfNoEntry: false })
    if (found?.isDirectory() === true) return at
    if (found?.isFile() === true) return mainWorktree(git, at)
    if (dirname(at) === at) return folder
  }
}

/** A folder at the end of every link. */
export const realFolder = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}

/** A worktree names the repository it is from; a submodule is a repository of its own. */
const mainWorktree = (git: string, folder: string): string => {
  const [, named] = /^gitdir: (.+?)[/\\]\.git[/\\]worktrees[/\\]/m.exec(readFileSync(git, 'utf8')) ?? []
  return named === undefined ? folder : resolve(folder, named)
}
