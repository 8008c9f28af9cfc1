import { execFile } from 'node:child_process'
import { WorktreeFailure } from '../../ports/worktrees.ts'

/** How a call of git ended. */
export interface GitAnswer {
  readonly ok: boolean
  readonly output: string
  /** The last line of its complaints. */
  readonly complaint: string
}

const MOST_BYTES = 16 * 1024 * 1024

/** The working directory of a call chooses the repository; variables of our caller do not. */
const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
})

/**
 * Calls git in a folder, without a shell.
 *
 * @throws WorktreeFailure when there is no git, or no such folder
 */
export const git = (folder: string, ...args: readonly string[]): Promise<GitAnswer> =>
  new Promise((resolve, reject) => {
    const options = { cwd: folder, env: environment(), maxBuffer: MOST_BYTES, encoding: 'utf8' } as const
    execFile('git', ['-C', folder, ...args], options, (error, output, complaints) => {
      const code = (error as NodeJS.ErrnoException | null)?.code
      if (code === 'ENOENT' || code === 'EACCES') reject(noGit(error))
      else resolve({ ok: error === null, output: output.trimEnd(), complaint: lastLine(complaints) })
    })
  })

const noGit = (cause: unknown): WorktreeFailure => {
  const advice = 'Install git, or write workspace.strategy: none to work without worktrees.'
  return new WorktreeFailure('worktree.no_git', `The command git was not found. ${advice}`, { cause })
}

const lastLine = (text: string): string => (text.trim().split('\n').at(-1) ?? '').slice(0, 300)
