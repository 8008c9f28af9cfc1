import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { program } from '../support/bundle.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import type { Said } from './terminal.ts'

const MAIN = fileURLToPath(new URL('../../src/adapters/cli/main.ts', import.meta.url))
const BATON = await program(MAIN)

const AGENT = fileURLToPath(new URL('./scripted-agent.mjs', import.meta.url))

/** The agent of these tests, for `--command`. It replaces its shell, so that it is the process that is ended. */
export const AGENT_COMMAND = `exec "${process.execPath}" "${AGENT}"`

/** A folder for a test, gone after it. */
export const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'batonpass-run-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  return made
}

/** A database of its own. */
export const database = async (): Promise<string> =>
  withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())

/** `baton` in a process of its own, which a test may signal. */
export interface Spawned {
  readonly child: ChildProcess
  readonly said: { out: string; err: string }
  readonly ended: Promise<Said>
}

/** Starts `baton` with these arguments, and more in its environment. */
export const spawnBaton = (args: readonly string[], environment: Readonly<Record<string, string>>): Spawned => {
  const child = spawn(process.execPath, [BATON, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk.toString()
  })
  const ended = new Promise<Said>((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, ...said })))
  return { child, said, ended }
}

/** Waits until something is so. */
export const until = async (isSo: () => boolean, what: string): Promise<void> => {
  for (const end = performance.now() + 600_000; !isSo(); await pause(25))
    if (performance.now() > end) throw new Error(`It did not come to this: ${what}`)
}

/** The processes that an agent wrote down, and that are still there. */
export const alive = (pidFile: string): readonly number[] =>
  readFileSync(pidFile, 'utf8')
    .trim()
    .split('\n')
    .map(Number)
    .filter((pid) => {
      try {
        process.kill(pid, 0)
      } catch {
        return false
      }
      // One that has ended and waits for its parent to notice is not alive.
      return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(statusOf(pid))
    })

const statusOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ') Z ' // gone while it was looked for
  }
}
