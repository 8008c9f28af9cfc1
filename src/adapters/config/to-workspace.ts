import type { Workspace } from '../../domain/conversation/conversation.ts'
import { DEFAULT_WORKTREE, type WorktreeSettings } from '../../domain/conversation/worktree.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConfigurationSetting } from '../../domain/run/run-configuration.ts'
import { type FoundProblem, pathText, type SettingPath } from './milestone-settings.ts'
import type { FileContent } from './schema.ts'

/** Keys about the place of the work, of a whole file or of one agent. */
type PlaceContent = Pick<FileContent, 'workspace' | 'working_directory'>

/** The keys about the working directory, one name for each whatever its form. */
const directoryOf = ({
  working_directory: given,
}: PlaceContent): { readonly root?: string; readonly branch?: string } =>
  typeof given === 'string' ? { root: given } : defined({ root: given?.root, branch: given?.default_branch })

/** The place of the work, as far as a file names one. */
export const configuredWorkspace = (content: PlaceContent): Workspace | undefined => {
  const { working_directory, worktree_path: worktreePath, branch, base_branch } = content.workspace ?? {}
  const directory = directoryOf(content)
  const workingDirectory = working_directory ?? directory.root
  const place = defined({ workingDirectory, worktreePath, branch, baseBranch: base_branch ?? directory.branch })
  return Object.keys(place).length === 0 ? undefined : place
}

/** How worktrees are made, if they are. */
export const worktreeOf = ({ workspace }: PlaceContent): WorktreeSettings | undefined => {
  if (workspace?.strategy !== 'worktree') return undefined
  const { worktree_dir: dir, branch_pattern: branchPattern } = workspace
  return { ...DEFAULT_WORKTREE, ...defined({ dir, branchPattern }) }
}

/** The settings about the place of the work, and the keys that say so. */
export const placeSettings = (content: PlaceContent): readonly ConfigurationSetting[] => {
  const { workspace } = content
  const [place, worktree, directory] = [configuredWorkspace(content), worktreeOf(content), directoryOf(content)]
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
export const placeProblems = (
  content: PlaceContent,
  base: SettingPath = [],
  ofAll?: string,
): readonly FoundProblem[] => {
  const workspace = content.workspace ?? {}
  const directory = directoryOf(content)
  const isWorktree = (workspace.strategy ?? ofAll) === 'worktree'
  const wrong = (key: string, problem: string, advice: string): FoundProblem => ({
    path: [...base, 'workspace', key],
    problem,
    advice,
  })
  const twice = (key: 'working_directory' | 'base_branch', other: string, value: string | undefined) =>
    value === undefined || workspace[key] == null || workspace[key] === value
      ? []
      : [
          wrong(
            key,
            `it contradicts ${other}`,
            `Keep ${pathText([...base, 'workspace', key])} or ${pathText([...base, other])}, not both.`,
          ),
        ]
  const stray = (['worktree_dir', 'branch_pattern'] as const)
    .filter((key) => workspace[key] != null && !isWorktree)
    .map((key) => wrong(key, 'no worktree is made', 'Write workspace.strategy: worktree as well, or leave this out.'))
  const isRefusing = ofAll === 'worktree' && workspace.strategy === 'none'
  const onlySome =
    'Leave workspace.strategy out for all, and write strategy: worktree for the agents that are to have one.'
  return [
    ...(isRefusing ? [wrong('strategy', 'all agents have worktrees', onlySome)] : []),
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

/**
 * The place of one agent: its own keys, and those of all that it leaves out. One that works in another folder has no
 * branch and no worktree of that one.
 */
export const agentPlaceOf = (
  agent: PlaceContent,
  whole: { readonly workspace?: Workspace; readonly worktree?: WorktreeSettings },
): { readonly workspace?: Workspace; readonly worktree?: WorktreeSettings } | undefined => {
  const own = configuredWorkspace(agent)
  if (own === undefined && agent.workspace?.strategy === undefined) return undefined
  const inherited = own?.workingDirectory === undefined ? whole : {}
  const worktree = agent.workspace?.strategy === undefined ? whole.worktree : worktreeOf(agent)
  return defined({ workspace: { ...inherited.workspace, ...own }, worktree })
}

/** The settings about the place of one agent that it has for itself. */
export const agentPlaceSettings = (agent: PlaceContent): readonly ConfigurationSetting[] =>
  placeSettings(agent).filter(({ from }) => from !== 'default')
