import { WorktreeFailure } from '../../ports/agent/worktrees.ts'
import { git } from './git-command.ts'

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
