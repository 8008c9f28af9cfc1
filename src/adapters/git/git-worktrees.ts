import { lstat, mkdir, readdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Workspace } from '../../domain/conversation/conversation.ts'
import { branchProblem, type WorktreePlan } from '../../domain/conversation/worktree.ts'
import { WorktreeFailure, type WorktreeFailureCode, type Worktrees } from '../../ports/agent/worktrees.ts'
import { git } from './git-command.ts'

/** Worktrees, by the command `git`. */
export const gitWorktrees: Worktrees = {
  place: async ({ repository, dir, branch, baseBranch }) => {
    mustBeBranches(branch, baseBranch)
    const root = await rootOf(repository)
    const folder = resolve(root, dir)
    const worktreePath = join(await madeFolder(root, folder), branch)
    return placeAt({ root, worktreePath, branch, ...(baseBranch !== undefined && { baseBranch }) })
  },

  restore: async ({ workingDirectory, worktreePath, branch, baseBranch }: Workspace) => {
    if (worktreePath === undefined || branch === undefined || (await kindOf(worktreePath)) !== 'nothing') return
    mustBeBranches(branch, baseBranch)
    const root = await rootOf(workingDirectory ?? '.')
    await placeAt({ root, worktreePath, branch, ...(baseBranch !== undefined && { baseBranch }) })
  },
}

interface Wanted extends Pick<WorktreePlan, 'branch' | 'baseBranch'> {
  readonly root: string
  readonly worktreePath: string
}

/** Another process may make the same one, and be in the middle of it. */
const ATTEMPTS = 5
const BETWEEN_MS = 100

const placeAt = async (wanted: Wanted): Promise<Workspace> => {
  const { root, worktreePath, branch } = wanted
  const base = await inTheEnd(async () => ((await found(wanted)) ? wanted.baseBranch : add(wanted)))
  const baseBranch = base === branch ? undefined : base
  return { workingDirectory: root, worktreePath, branch, ...(baseBranch !== undefined && { baseBranch }) }
}

const inTheEnd = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (failure) {
      if (attempt === ATTEMPTS || !(failure instanceof WorktreeFailure) || !PASSING.includes(failure.code))
        throw failure
      await pause(attempt * BETWEEN_MS)
    }
  }
}

/** Problems that may pass: a worktree looks like this while git makes it. */
const PASSING: readonly WorktreeFailureCode[] = ['worktree.path_taken', 'worktree.branch_in_use', 'worktree.failed']

/** Branch names are untrusted: git takes some names for options or revisions. */
const mustBeBranches = (...names: readonly (string | undefined)[]): void => {
  for (const name of names) {
    const problem = name === undefined ? undefined : branchProblem(name)
    if (problem !== undefined) throw new WorktreeFailure('worktree.failed', `The branch cannot be used: ${problem}.`)
  }
}

const rootOf = async (folder: string): Promise<string> => {
  const place = resolve(folder)
  if ((await stat(place).catch(() => undefined))?.isDirectory() !== true)
    throw new WorktreeFailure('worktree.no_repository', `There is no folder "${place}".`)
  const { ok, output } = await git(place, 'rev-parse', '--show-toplevel')
  if (ok && output !== '') return output
  const advice = 'Name one with --cwd or working_directory.root, or write workspace.strategy: none.'
  throw new WorktreeFailure('worktree.no_repository', `"${place}" is in no git repository. ${advice}`)
}

/** Inside a repository the folder of worktrees ignores itself, so that nobody commits one by mistake. */
const madeFolder = async (root: string, folder: string): Promise<string> => {
  const isNew = (await kindOf(folder)) === 'nothing'
  await mkdir(folder, { recursive: true })
  const inside = relative(root, folder)
  const isInside = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)
  if (isNew && isInside) await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => {})
  return realpath(folder)
}

/** The worktree if it is there; nothing if it has to be made. @throws WorktreeFailure when something is in its place */
const found = async ({ root, worktreePath, branch }: Wanted): Promise<KnownWorktree | undefined> => {
  const worktrees = await worktreesOf(root)
  const [here, elsewhere] = [
    worktrees.find(({ path }) => path === worktreePath),
    worktrees.find((one) => one.branch === branch && one.path !== worktreePath),
  ]
  const kind = await kindOf(worktreePath)
  if (here !== undefined && kind === 'folder') {
    if (here.branch === branch) return here
    const now = here.branch === undefined ? 'on no branch' : `on the branch "${here.branch}"`
    const advice = `Switch it to "${branch}", or take it away with: git worktree remove "${worktreePath}".`
    throw new WorktreeFailure('worktree.path_taken', `The worktree "${worktreePath}" is ${now}. ${advice}`)
  }
  if (elsewhere !== undefined && (await kindOf(elsewhere.path)) !== 'nothing') {
    const advice = 'Switch that one to another branch, or change workspace.branch_pattern.'
    const problem = `The branch "${branch}" is checked out in "${elsewhere.path}". ${advice}`
    throw new WorktreeFailure('worktree.branch_in_use', problem)
  }
  if (kind === 'nothing' || kind === 'empty folder') return undefined
  const advice = 'Move it away, or change workspace.worktree_dir.'
  throw new WorktreeFailure('worktree.path_taken', `"${worktreePath}" is there, and is no worktree. ${advice}`)
}

/** Makes the worktree. @returns the branch that it began at, where that is known */
const add = async (wanted: Wanted): Promise<string | undefined> => {
  const { root, worktreePath, branch, baseBranch } = wanted
  await mkdir(dirname(worktreePath), { recursive: true })
  const isThere = (await git(root, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`)).ok
  // Nobody knows where a branch began that was there already.
  const base = baseBranch ?? (isThere ? undefined : await currentBranch(root))
  const which = isThere ? [worktreePath, branch] : ['--no-track', '-b', branch, worktreePath, await startOf(wanted)]
  // A worktree whose folder was deleted is still on git's list; only with --force it is made again.
  const { ok, complaint } = await git(root, 'worktree', 'add', '--force', ...which)
  if (ok || (await found(wanted)) !== undefined) return base
  throw new WorktreeFailure('worktree.failed', `git could not make the worktree "${worktreePath}": ${complaint}`)
}

const currentBranch = async (root: string): Promise<string | undefined> => {
  const { ok, output } = await git(root, 'symbolic-ref', '--quiet', '--short', 'HEAD')
  return ok && output !== '' ? output : undefined
}

/** The commit that a new branch begins at. */
const startOf = async ({ root, baseBranch }: Wanted): Promise<string> => {
  const names = baseBranch === undefined ? ['HEAD'] : [`refs/heads/${baseBranch}`, `refs/remotes/origin/${baseBranch}`]
  for (const name of names) {
    const { ok, output } = await git(root, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`)
    if (ok) return output
  }
  const problem =
    baseBranch === undefined
      ? `The repository "${root}" has no commit yet. Make one first.`
      : `There is no branch "${baseBranch}" in "${root}", nor at origin. Check working_directory.default_branch, or fetch it.`
  throw new WorktreeFailure('worktree.no_base', problem)
}

type Kind = 'nothing' | 'folder' | 'empty folder' | 'something else'

/** The kind of entry at a path, without following a link. */
const kindOf = async (path: string): Promise<Kind> => {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return 'nothing'
  if (!found.isDirectory()) return 'something else'
  return (await readdir(path).catch(() => ['?'])).length === 0 ? 'empty folder' : 'folder'
}

/** A worktree that a repository knows of; its folder may be gone. */
interface KnownWorktree {
  readonly path: string
  /** Absent when it stands at a commit and on no branch. */
  readonly branch?: string
}

/** All worktrees of a repository, its own folder included. */
const worktreesOf = async (root: string): Promise<readonly KnownWorktree[]> => {
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
