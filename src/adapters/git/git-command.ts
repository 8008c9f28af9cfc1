import { execFile } from 'node:child_process'
import { WorktreeFailure } from '../../ports/agent/worktrees.ts'

/** How a call of git ended. */
export interface GitAnswer {
  readonly ok: boolean
  readonly output: string
  /** The last line of its complaints. */
  readonly complaint: string
}

const MOST_BYTES = 16 * 1024 * 1024

/**
 * All of our environment that git gets, and with it the filters of a repository: what finds programs and the person's own
 * settings. The working directory of a call chooses the repository; variables of our caller do not.
 */
const PASSED: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TZ', 'TMPDIR', 'XDG_CONFIG_HOME'],
  // Windows finds nothing without these.
  ...['SystemRoot', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
]

const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(PASSED.map((name) => [name, process.env[name]])),
  GIT_TERMINAL_PROMPT: '0',
  // Nothing that we ask for needs another machine. A clone without its files would fetch them, by programs that it names.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  LC_ALL: 'C',
})

/**
 * Settings that win over those of a repository, which may be written by an agent: nothing that a repository names is run.
 * Filters are: without them a checkout of large or encrypted files is wrong.
 */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.sshCommand=ssh',
  'core.gitProxy=',
  'credential.helper=',
  'protocol.allow=never',
  'submodule.recurse=false',
  // A folder that only looks like a repository, such as one that came with the files of another, is none.
  'safe.bareRepository=explicit',
].flatMap((setting) => ['-c', setting])

/**
 * Calls git in a folder, without a shell.
 *
 * @throws WorktreeFailure when there is no git, or no such folder
 */
export const git = (folder: string, ...args: readonly string[]): Promise<GitAnswer> =>
  new Promise((resolve, reject) => {
    const options = { cwd: folder, env: environment(), maxBuffer: MOST_BYTES, encoding: 'utf8' } as const
    execFile('git', ['--no-pager', ...SETTINGS, '-C', folder, ...args], options, (error, output, complaints) => {
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
