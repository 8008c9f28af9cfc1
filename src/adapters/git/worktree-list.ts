import { git } from './git-command.ts'

/** A worktree that a repository knows of; its folder may be gone. */
export interface KnownWorktree {
  readonly path: string
  /** Absent when it stands at a commit and on no branch. */
  readonly branch?: string
}

/** All worktrees of a repository, its own folder included. */
export const worktreesOf = async (root: string): Promise<readonly KnownWorktree[]> => {
  const { output } = await git(root, 'worktree', 'list', '--porcelain')
  return output.split('\n\n').flatMap((block) => {
    const lines = block.split('\n')
    const path = valueIn(lines, 'worktree ')
    const branch = valueIn(lines, 'branch refs/heads/')
    return path === undefined ? [] : [{ path, ...(branch !== undefined && { branch }) }]
  })
}

const valueIn = (lines: readonly string[], prefix: string): string | undefined =>
  lines.find((line) => line.startsWith(prefix))?.slice(prefix.length)
