import { deepEqual, match, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { commandPath, uses } from './claude-stage.ts'
import { type HooksStage, hooksStage } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const TMUX = ['/usr/bin/tmux', '/usr/local/bin/tmux', '/opt/homebrew/bin/tmux'].find(existsSync)
const NEEDS_TMUX = {
  skip: TMUX === undefined && 'tmux is not installed, and the line is drawn in a terminal of its own',
}
if (TMUX === undefined) console.log('The status line was not drawn by the real claude: tmux is not installed.')

const COLUMNS = 120
const KEY = 'sk-ant-none-of-your-business-0123456789'

/** A terminal in which the real claude runs. */
interface Terminal {
  readonly shown: () => string
  readonly type: (...keys: readonly string[]) => void
  /** Waits until the screen shows this. */
  readonly until: (wanted: RegExp) => Promise<string>
}

/** Everything that claude asks at its first start in a home, answered. */
const answerQuestions = ({ home }: HooksStage): void => {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const answered = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [join(home, 'project')]: project },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(answered))
}

const terminalOf = (t: TestContext, stage: HooksStage, columns: number): Terminal => {
  const { home, environment } = stage
  const socket = `batonpass-${randomUUID()}`
  const tmux = (...args: readonly string[]): string =>
    execFileSync(TMUX ?? '', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  const project = join(home, 'project')
  mkdirSync(project)
  const variables = Object.entries({ ...environment, ANTHROPIC_API_KEY: KEY, LANG: 'C.UTF-8', TERM: 'xterm-256color' })
  const words = [
    'env',
    '-i',
    ...variables.map(([name, value]) => `${name}=${value}`),
    commandPath(),
    '--model',
    'claude-sonnet-4-5',
  ]
  const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  tmux('-u', 'new-session', '-d', '-s', 'claude', '-x', String(columns), '-y', '40', '-c', project, line)
  t.after(() => void tmux('kill-server'))
  const shown = (): string => tmux('capture-pane', '-p', '-t', 'claude')
  const until = async (wanted: RegExp): Promise<string> => {
    for (let screen = shown(); ; screen = shown()) {
      if (wanted.test(screen)) return screen
      if (process.env.SHOW_SCREEN) console.log(screen)
      await pause(250)
    }
  }
  return { shown, until, type: (...keys) => void tmux('send-keys', '-t', 'claude', ...keys) }
}

describe('the status line in the real, interactive claude', PATIENT, () => {
  it('is drawn before the first call, after it, and with a notice', NEEDS_TMUX, async (t) => {
    const stage = await hooksStage(t, {
      turns: [{ text: 'The word is quokka.', usage: uses(10, 1_000, 121_000, 400) }],
    })
    const { service } = stage
    answerQuestions(stage)
    const terminal = terminalOf(t, stage, COLUMNS)
    await terminal.until(/^ *window \?/m)
    ok(!service.requests.some(({ event }) => event === 'statusline'), 'nothing is known yet, and nothing is posted')
    terminal.type('Say a word.', 'Enter')
    const answered = await terminal.until(/^ *window 61% /m)
    match(answered, /^ *window 61% ██████████│█░│░░░│░░ · 122k of 200k/m)
    while (!service.requests.some(({ event }) => event === 'statusline')) await pause(50)
    const sample = service.requests.findLast(({ event }) => event === 'statusline')
    const { current_usage } = (sample?.payload.context_window ?? {}) as { readonly current_usage?: object }
    deepEqual(current_usage, uses(10, 1_000, 121_000, 400))
    const milestones = [0.5, 0.65, 0.85].map((at, index) => ({ name: ['warning', 'critical', 'restart'][index], at }))
    const notices = ['warning: 61% of the window is used']
    service.card(String(sample?.payload.session_id), { milestones, restarts: 1, notices })
    terminal.type('Once more.', 'Enter')
    const noticed = await terminal.until(/warning: 61%/)
    match(noticed, /· 1 restart · warning: 61% of the window is used/)
    if (process.env.CAPTURE !== undefined) writeFileSync(process.env.CAPTURE, noticed)
    for (const row of noticed.split('\n')) ok([...row].length <= COLUMNS)
  })
})
