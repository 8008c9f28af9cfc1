import { err, ok, type Result } from '../kernel/result.ts'
import type { Workspace } from './conversation.ts'

/** How each conversation gets a git worktree of its own. */
export interface WorktreeSettings {
  /** Where the worktrees lie; a relative path begins at the root of the repository. */
  readonly dir: string
  /** The name of a branch; `{job}` stands for the key of the conversation, `{agent}` for the name of the agent. */
  readonly branchPattern: string
}

/** One folder beside the sources, and branches that tell whose they are. */
export const DEFAULT_WORKTREE: WorktreeSettings = { dir: '.worktrees', branchPattern: 'baton/{job}' }

/** A worktree that is wanted. */
export interface WorktreePlan {
  /** A folder of the repository. */
  readonly repository: string
  readonly dir: string
  readonly branch: string
  /** The branch to begin at; absent means the one that is checked out. */
  readonly baseBranch?: string
}

/** The names in a pattern, each with the word that people know from hook payloads. */
const PLACEHOLDERS = { job: 'job', job_id: 'job', agent: 'agent', agent_name: 'agent' } as const

const PLACEHOLDER = /\{([^{}]*)\}/g
const LONGEST_BRANCH = 200
const LONGEST_JOB = 80

const isKnown = (name: string): name is keyof typeof PLACEHOLDERS => Object.hasOwn(PLACEHOLDERS, name)

/** The reason why git would not take a name for a branch, or would take it for something else. */
export const branchProblem = (name: string): string | undefined => {
  if (name.length > LONGEST_BRANCH) return `it is longer than ${LONGEST_BRANCH} characters`
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return 'it has characters that do not show'
  if (/[\s~^:?*[\\]/u.test(name)) return 'it has a space or one of ~ ^ : ? * [ \\'
  if (name.startsWith('-')) return 'it begins with a hyphen'
  if (name.includes('..') || name.includes('@{') || name === '@') return 'it has .. or @ where git reads a revision'
  const isOdd = (part: string): boolean => part === '' || part.startsWith('.') || /(\.|\.lock)$/.test(part)
  return name.split('/').some(isOdd)
    ? 'a part of it is empty, begins or ends with a dot, or ends with .lock'
    : undefined
}

/** The reason why a pattern cannot name branches, and what to write instead. */
export const branchPatternProblem = (
  pattern: string,
): { readonly problem: string; readonly advice: string } | undefined => {
  const names = [...pattern.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined) {
    const advice = 'Use {job} and {agent}: the same conversation must come to the same branch again.'
    return { problem: `it has a placeholder that is not known, {${unknown.slice(0, 40)}}`, advice }
  }
  if (!names.some((name) => isKnown(name) && PLACEHOLDERS[name] === 'job')) {
    const advice = 'Write one such as baton/{job}.'
    return { problem: 'it has no {job}, so that all conversations would share a branch', advice }
  }
  const example = pattern.replaceAll(PLACEHOLDER, 'x')
  if (/[{}]/.test(example)) {
    const advice = 'Use {job} and {agent}, each in single braces.'
    return { problem: 'it has braces that belong to no placeholder', advice }
  }
  const problem = branchProblem(example)
  return problem === undefined ? undefined : { problem, advice: 'Write one such as baton/{agent}/{job}.' }
}

/** A key that leads out of its folder, or that a program takes for an option. */
const isHostile = (key: string): boolean =>
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(key) || /^[-~/\\]/.test(key) || key.split(/[/\\]/).includes('..')

const NO_PART =
  'cannot be a part of a branch: it leads out of its folder, begins as an option or a path does, or has characters that ' +
  'do not show. Choose another key for the conversation, or another name for the agent'

const PLAIN = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*$/

/** A key as a part of a branch: as it is, or with odd characters replaced and a digest that keeps it apart from others. */
const partOf = (key: string, digest: (text: string) => string): string => {
  if (PLAIN.test(key) && key.length <= LONGEST_JOB && !key.endsWith('.lock')) return key
  const plain = key.replaceAll(/[^A-Za-z0-9_]+/g, '-').replaceAll(/^-|-$/g, '')
  const short = digest(key).slice(0, 8)
  return plain === '' ? short : `${plain.slice(0, LONGEST_JOB)}-${short}`
}

/** Whose worktree it is. */
export interface WorktreeOwner {
  /** The key of the conversation, or something else that is only its own. */
  readonly job: string
  readonly agent: string
  readonly workspace?: Workspace
  /** A digest in hexadecimal. */
  readonly digest: (text: string) => string
}

/**
 * The worktree of a conversation. The same conversation always comes to the same one.
 *
 * @returns the plan, or the reason why the name of the conversation, of the agent or of the branch cannot be used
 */
export const planWorktree = (settings: WorktreeSettings, owner: WorktreeOwner): Result<WorktreePlan, string> => {
  const { job, agent, workspace = {}, digest } = owner
  const hostile = [job, agent].find(isHostile)
  if (hostile !== undefined) return err(`${JSON.stringify(hostile.slice(0, 80))} ${NO_PART}`)
  const parts = { job: partOf(job, digest), agent: partOf(agent, digest) }
  const named = settings.branchPattern.replaceAll(PLACEHOLDER, (whole, name: string) =>
    isKnown(name) ? parts[PLACEHOLDERS[name]] : whole,
  )
  const branch = workspace.branch ?? named
  for (const name of [branch, workspace.baseBranch]) {
    const problem = name === undefined ? undefined : branchProblem(name)
    if (problem !== undefined) return err(`the branch ${JSON.stringify(name?.slice(0, 80))} cannot be used: ${problem}`)
  }
  const { workingDirectory: repository = '.', baseBranch } = workspace
  return ok({ repository, dir: settings.dir, branch, ...(baseBranch !== undefined && { baseBranch }) })
}
