import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { commandPath } from './claude-stage.ts'
import type { ClaudeHome } from './hooks-stage.ts'

const TMUX = ['/usr/bin/tmux', '/usr/local/bin/tmux', '/opt/homebrew/bin/tmux'].find(existsSync)
/** For tests that need a terminal. */
export const NEEDS_TMUX = {
  skip: TMUX === undefined && 'tmux is not installed, and claude is to run in a terminal of its own',
}
if (TMUX === undefined) console.log('The real claude was not run in a terminal: tmux is not installed.')

const KEY = 'sk-ant-none-of-your-business-0123456789'

/** A terminal in which the real claude runs. */
export interface Terminal {
  readonly shown: () => string
  readonly type: (...keys: readonly string[]) => void
  /** Ends the terminal, and claude with it: until then it writes to its home. */
  readonly close: () => Promise<void>
  /** Waits until the screen shows this. */
  readonly until: (wanted: RegExp) => Promise<string>
}

/** Everything that claude asks at its first start in a home, answered. */
export const answerQuestions = ({ home }: Pick<ClaudeHome, 'home'>): void => {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const answered = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [join(home, 'project')]: project },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(answered))
}

/** Runs claude in a terminal. */
export const terminalOf = (
  t: TestContext,
  stage: Pick<ClaudeHome, 'home' | 'environment'>,
  columns = 120,
  flags: readonly string[] = [],
): Terminal => {
  const { home, environment } = stage
  const socket = `batonpass-${randomUUID()}`
  const tmux = (...args: readonly string[]): string =>
    execFileSync(TMUX ?? '', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  const project = join(home, 'project')
  mkdirSync(project, { recursive: true })
  const variables = Object.entries({ ...environment, ANTHROPIC_API_KEY: KEY, LANG: 'C.UTF-8', TERM: 'xterm-256color' })
  const words = [
    'env',
    '-i',
    ...variables.map(([name, value]) => `${name}=${value}`),
    commandPath(),
    '--model',
    'claude-sonnet-4-5',
    ...flags,
  ]
  const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  tmux('-u', 'new-session', '-d', '-s', 'claude', '-x', String(columns), '-y', '40', '-c', project, line)
  const [pid = ''] = tmux('list-panes', '-t', 'claude', '-F', '#{pane_pid}').split('\n')
  const close = async (): Promise<void> => {
    try {
      tmux('kill-server')
    } catch {
      // It ended with its claude.
    }
    while (isAlive(Number(pid))) await pause(50)
  }
  t.after(close)
  const shown = (): string => tmux('capture-pane', '-p', '-t', 'claude')
  const until = async (wanted: RegExp): Promise<string> => {
    for (let screen = shown(); ; screen = shown()) {
      if (wanted.test(screen)) return screen
      if (process.env.SHOW_SCREEN) console.log(screen)
      await pause(250)
    }
  }
  return { shown, until, close, type: (...keys) => void tmux('send-keys', '-t', 'claude', ...keys) }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
