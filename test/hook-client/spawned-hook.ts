import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { HookPost } from '../../src/ports/terminal/wire.ts'
import { program } from '../support/bundle.ts'

const PROGRAM = await program(fileURLToPath(new URL('../support/hook-program.ts', import.meta.url)))

/** A session id as Claude Code makes them. */
export const SESSION = '5b0a8a2e-6c2f-4a1e-9d7e-0f1e2d3c4b5a'

/** A folder for a test, gone after it. */
export const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'batonpass-hook-'))
  onTestFinished(() => removed(made))
  return made
}

/** Removes a folder in which a service that a hook started may still write its first line: then it is listed anew. */
const removed = async (path: string): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    try {
      return rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if (tries === 100 || (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** So much that a busy machine delivers in time; the tests of the budget itself give none. */
const AMPLE_MS = '300000'

/** How a hook ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** How a hook is run. A text is written and the pipe closed; a function may do as it likes. */
export interface HookRun {
  readonly input?: unknown
  readonly feed?: (child: ChildProcess) => void
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** Starts a hook in a process of its own. */
export const startHook = (dir: string, event: string, { flags = [], environment = {} }: HookRun = {}): ChildProcess => {
  const child = spawn(process.execPath, [PROGRAM, 'hook', event, '--data-dir', dir, ...flags], {
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      BATONPASS_HOOK_DEBUG: '1',
      NO_COLOR: '1',
      BATONPASS_HOOK_BUDGET_MS: AMPLE_MS,
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => {}) // it need not read all of it
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Waits for a hook's end. */
export const endOf = (child: ChildProcess): Promise<Ended> => {
  const said = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })))
}

/** Runs a hook to its end. */
export const runHook = (dir: string, event: string, run: HookRun = {}): Promise<Ended> => {
  const child = startHook(dir, event, run)
  const ended = endOf(child)
  if (run.feed !== undefined) run.feed(child)
  else child.stdin?.end(typeof run.input === 'string' ? run.input : JSON.stringify(run.input ?? {}))
  return ended
}

/** Expects the end that every hook has: status 0, and, by its own clock, within its budget. */
export const expectInTime = ({ code, err }: Ended): void => {
  expect({ code, err }).toMatchObject({ code: 0 })
  const [, took, budget] = /took (\d+) ms of (\d+) ms/.exec(err) ?? []
  // The last moment ends a hook before it can say so.
  if (took !== undefined) expect(Number(took)).toBeLessThanOrEqual(Number(budget) + SLACK_MS)
}

/** A timer may be late by so much where eight programs share a core; what hangs never ends at all. */
const SLACK_MS = 60_000

/** Everything that lies in the spool. */
export const spooled = (dir: string): readonly HookPost[] => {
  try {
    return readdirSync(join(dir, 'spool'))
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => JSON.parse(readFileSync(join(dir, 'spool', name), 'utf8')) as HookPost)
  } catch {
    return []
  }
}

/** The problems that hooks wrote down. */
export const problems = (dir: string): readonly string[] => {
  try {
    return readFileSync(join(dir, 'hook.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly problem: string }).problem)
  } catch {
    return []
  }
}

/** The processes that a file names and that still run. One that waits for its parent to notice its end does not. */
export const alive = (pidFile: string): readonly number[] =>
  readFileSync(pidFile, 'utf8')
    .trim()
    .split('\n')
    .map(Number)
    .filter((pid) => {
      try {
        process.kill(pid, 0)
        return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      } catch (problem) {
        return (problem as NodeJS.ErrnoException).code === 'EPERM'
      }
    })
