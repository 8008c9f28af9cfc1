import { isAbsolute, join } from 'node:path'
import { WorktreeFailure } from '../../ports/agent/worktrees.ts'
import { git } from './git-command.ts'

/** How git treats a file: it keeps it, leaves it out, or would offer it to the next `git add`. */
export type GitFileState = 'tracked' | 'ignored' | 'open'

/** A file of a repository. */
export interface GitFile {
  readonly state: GitFileState
  /** The line that ignores this file and no other. */
  readonly pattern: string
}

/** How git treats files of a folder. */
export interface FolderInGit {
  /** The list of ignored files that belongs to this clone and is not part of the repository. Its worktrees share it. */
  readonly excludeFile: string
  /** The folder, from the root of the repository on. */
  readonly prefix: string
  readonly files: Readonly<Record<string, GitFile>>
}

/** Asks git about files, by their paths in a folder. @returns nothing where there is no git, or no repository */
export const gitFilesIn = async (folder: string, paths: readonly string[]): Promise<FolderInGit | undefined> => {
  try {
    const [root, prefixed, exclude] = await Promise.all([
      git(folder, 'rev-parse', '--show-toplevel'),
      git(folder, 'rev-parse', '--show-prefix'),
      git(folder, 'rev-parse', '--git-path', 'info/exclude'),
    ])
    // A name with a line end in it cannot be a line.
    if (!root.ok || !prefixed.ok || !exclude.ok || /[\r\n]/.test(prefixed.output)) return undefined
    const prefix = prefixed.output
    const answers = paths.map(async (path) => [path, await fileOf(folder, prefix, path)] as const)
    const excludeFile = isAbsolute(exclude.output) ? exclude.output : join(folder, exclude.output)
    return { excludeFile, prefix, files: Object.fromEntries(await Promise.all(answers)) }
  } catch (problem) {
    if (problem instanceof WorktreeFailure) return undefined
    throw problem
  }
}

const fileOf = async (folder: string, prefix: string, path: string): Promise<GitFile> => {
  const [tracked, ignored] = await Promise.all([
    git(folder, 'ls-files', '--error-unmatch', '--', path),
    git(folder, 'check-ignore', '--quiet', '--', path),
  ])
  const pattern = `/${prefix}${path}`.replaceAll(/[\\*?[]/g, String.raw`\$&`)
  // A file that git does not look at, such as one behind a link, is complained about.
  const isOpen = !ignored.ok && ignored.complaint === ''
  return { pattern, state: tracked.ok ? 'tracked' : isOpen ? 'open' : 'ignored' }
}

/**
 * Whether git keeps a file, or would with the next `git add .`. A file that is ignored, or in no repository, is not kept. If
 * git cannot tell, the answer is yes: a warning too many does no harm.
 */
export const isKeptByGit = async (folder: string, path: string): Promise<boolean> => {
  try {
    const { ok: isIgnored, complaint } = await git(folder, 'check-ignore', '--quiet', '--', path)
    return !isIgnored && !complaint.includes('not a git repository')
  } catch (problem) {
    if (problem instanceof WorktreeFailure && problem.code === 'worktree.no_git') return false
    throw problem
  }
}
