import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const TMUX = ['/usr/bin/tmux', '/usr/local/bin/tmux', '/opt/homebrew/bin/tmux'].find(existsSync)

/** Whether screens can be captured here. */
export const hasTerminal = TMUX !== undefined

/** The columns of every screen: as wide as the guides are. */
export const COLUMNS = 110
const ROWS = 40
const EVERY_MS = 200
/** A screen that does not come is given up: something it waits for has changed. */
const MOST_MS = 120_000

/** A terminal in which a program runs. */
export interface Terminal extends AsyncDisposable {
  /** The lines that are shown, without the empty ones at the end. */
  readonly shown: () => readonly string[]
  readonly type: (...keys: readonly string[]) => void
  /** Waits until the screen shows this. @throws Error with the screen, when it never does */
  readonly until: (wanted: RegExp) => Promise<readonly string[]>
}

/** Where a program runs, and what it knows. */
export interface Surroundings {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** Opens a terminal of its own, with a line for a shell in it. */
export const openTerminal = (line: string, { folder, environment }: Surroundings): Terminal => {
  const socket = `screens-${randomUUID()}`
  const tmux = (...args: readonly string[]): string =>
    execFileSync(TMUX ?? 'tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', stdio: 'pipe' })
  const variables = Object.entries({ ...environment, LANG: 'C.UTF-8', TERM: 'xterm-256color' })
  const words = ['env', '-i', ...variables.map(([name, value]) => `${name}=${value}`), '/bin/sh', '-c', line]
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)]
  tmux('-u', 'new-session', '-d', '-s', 'screen', ...size, '-c', folder, words.map(quoted).join(' '))
  const [pid = ''] = tmux('list-panes', '-t', 'screen', '-F', '#{pane_pid}').split('\n')
  const shown = (): readonly string[] =>
    tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 'screen')
      .replace(/\s+$/, '')
      .split('\n')
      .map((row) => row.replaceAll('\u00a0', ' ').trimEnd())
  return {
    shown,
    type: (...keys) => void tmux('send-keys', '-t', 'screen', ...keys),
    until: async (wanted) => {
      for (const end = Date.now() + MOST_MS; Date.now() < end; ) {
        const rows = shown()
        if (wanted.test(rows.join('\n'))) return rows
        await pause(EVERY_MS)
      }
      throw new Error(`The screen never showed ${wanted}:\n${shown().join('\n')}`)
    },
    [Symbol.asyncDispose]: async () => {
      try {
        tmux('kill-server')
      } catch {
        // It ended with its program.
      }
      // Until then it writes to its home.
      while (isAlive(Number(pid))) await pause(EVERY_MS)
    },
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const END = '@@ the end @@'

/** Runs commands to their end in a terminal. @returns all that is shown then */
export const shownBy = async (line: string, around: Surroundings): Promise<readonly string[]> => {
  await using terminal = openTerminal(`${line}; echo; echo '${END}'; exec sleep 600`, around)
  const rows = await terminal.until(new RegExp(`^${END}$`, 'm'))
  const shown = rows.slice(0, rows.indexOf(END))
  return shown.at(-1) === '' ? shown.slice(0, -1) : shown
}
