import type { Workspace } from '../../domain/conversation/conversation.ts'
import { DEFAULT_WORKTREE, type WorktreeSettings } from '../../domain/conversation/worktree.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConfigurationSetting } from '../../domain/run/configuration.ts'
import type { FoundProblem } from './milestone-settings.ts'
import type { FileContent } from './schema.ts'

/** The keys about the working directory, one name for each whatever its form. */
const directoryOf = ({
  working_directory: given,
}: FileContent): { readonly root?: string; readonly branch?: string } =>
  typeof given === 'string' ? { root: given } : defined({ root: given?.root, branch: given?.default_branch })

/** The place of the work, as far as a file names one. */
export const workspaceOf = (content: FileContent): Workspace | undefined => {
  const { working_directory, worktree_path: worktreePath, branch, base_branch } = content.workspace ?? {}
  const directory = directoryOf(content)
  const workingDirectory = working_directory ?? directory.root
  const place = defined({ workingDirectory, worktreePath, branch, baseBranch: base_branch ?? directory.branch })
  return Object.keys(place).length === 0 ? undefined : place
}

/** How worktrees are made, if they are. */
export const worktreeOf = ({ workspace }: FileContent): WorktreeSettings | undefined => {
  if (workspace?.strategy !== 'worktree') return undefined
  const { worktree_dir: dir, branch_pattern: branchPattern } = workspace
  return { ...DEFAULT_WORKTREE, ...defined({ dir, branchPattern }) }
}

/** The settings about the place of the work, and the keys that say so. */
export const placeSettings = (content: FileContent): readonly ConfigurationSetting[] => {
  const { workspace } = content
  const [place, worktree, directory] = [workspaceOf(content), worktreeOf(content), directoryOf(content)]
  const root = typeof content.working_directory === 'string' ? 'working_directory' : 'working_directory.root'
  const row = (
    key: keyof NonNullable<typeof workspace>,
    value: string | undefined,
    alias?: { readonly key: string; readonly value: string | undefined },
  ): ConfigurationSetting => {
    const named = [workspace?.[key] == null ? '' : `workspace.${key}`, alias?.value === undefined ? '' : alias.key]
    return { key: `workspace.${key}`, value: value ?? null, from: named.filter(Boolean).join(', ') || 'default' }
  }
  return [
    row('working_directory', place?.workingDirectory, { key: root, value: directory.root }),
    row('worktree_path', place?.worktreePath),
    row('branch', place?.branch),
    row('base_branch', place?.baseBranch, { key: 'working_directory.default_branch', value: directory.branch }),
    row('strategy', workspace?.strategy ?? 'none'),
    row('worktree_dir', worktree?.dir),
    row('branch_pattern', worktree?.branchPattern),
  ]
}

/** Keys about the place of the work that contradict each other, or do not go together. */
export const placeProblems = (content: FileContent): readonly FoundProblem[] => {
  const workspace = content.workspace ?? {}
  const directory = directoryOf(content)
  const isWorktree = workspace.strategy === 'worktree'
  const wrong = (key: string, problem: string, advice: string): FoundProblem => ({
    path: ['workspace', key],
    problem,
    advice,
  })
  const twice = (key: 'working_directory' | 'base_branch', other: string, value: string | undefined) =>
    value === undefined || workspace[key] == null || workspace[key] === value
      ? []
      : [wrong(key, `it contradicts ${other}`, `Keep workspace.${key} or ${other}, not both.`)]
  const stray = (['worktree_dir', 'branch_pattern'] as const)
    .filter((key) => workspace[key] != null && !isWorktree)
    .map((key) => wrong(key, 'no worktree is made', 'Write workspace.strategy: worktree as well, or leave this out.'))
  return [
    ...twice('working_directory', 'working_directory.root', directory.root),
    ...twice('base_branch', 'working_directory.default_branch', directory.branch),
    ...stray,
    ...(isWorktree && workspace.worktree_path != null
      ? [wrong('worktree_path', 'the strategy makes the worktree', 'Write worktree_dir, or leave the strategy out.')]
      : []),
    ...(isWorktree && workspace.branch != null
      ? [wrong('branch', 'all conversations would share it', 'Write a branch_pattern such as baton/{job} instead.')]
      : []),
  ]
}
