import type { ChildProcess } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { widthOf } from '../../domain/kernel/text-width.ts'
import type { Budget } from './budget.ts'
import type { HookLog } from './hook-log.ts'

/** The status line that a person had before, and what it is run with. */
export interface PreviousLine {
  readonly command: string
  readonly text: Buffer
  readonly budget: Budget
  readonly log: HookLog
  readonly environment: Readonly<Record<string, string | undefined>>
}

const MOST_BYTES = 16 * 1024
/** Kept back from its time, to draw our own line. */
const AFTER_IT_MS = 60
/** How long the last output of a process that has ended is waited for: it comes at once. */
const LAST_OUTPUT_MS = 20
const BETWEEN = ' · '
/** Runs the person's own status line on the same input. @returns what it printed, or nothing where it failed or was too slow */
export const previousStatusLine = async ({
  command,
  text,
  budget,
  log,
  environment,
}: PreviousLine): Promise<string> => {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: true,
      detached: true,
      env: { ...environment },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const kill = (): void => killGroup(child)
    const chunks: Buffer[] = []
    let size = 0
    let isOver = false
    const end = (problem?: string): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      process.off('exit', kill)
      kill() // also what it left running
      if (problem !== undefined) log.tell(`the previous status line ${problem}`)
      resolve(problem === undefined ? Buffer.concat(chunks).toString('utf8').trimEnd() : '')
    }
    const timer = setTimeout(() => end('took too long'), Math.max(0, budget.left - AFTER_IT_MS))
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(0))
    process.once('exit', kill)
    child.stdout?.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > MOST_BYTES) end('printed more than 16 KiB')
    })
    child.once('error', () => end('could not be started'))
    child.once('close', (code) => end(outcomeOf(code)))
    // Something it left running may hold its output open.
    child.once('exit', (code) => setTimeout(() => end(outcomeOf(code)), LAST_OUTPUT_MS))
    child.stdin?.on('error', () => {}) // it need not read
    child.stdin?.end(text)
  })
}

const outcomeOf = (code: number | null): string | undefined =>
  code === 0 ? undefined : `ended with ${code ?? 'a signal'}`

const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // nothing of it is left
  }
}

/** Adds our line to theirs: in the same row where both fit, below it otherwise. */
export const joined = (theirs: string, ours: string, width: number): string => {
  if (theirs.trim() === '') return ours
  const last = theirs.slice(theirs.lastIndexOf('\n') + 1)
  const columns = widthOf(stripVTControlCharacters(`${last}${BETWEEN}${ours}`))
  const reset = theirs.includes('\u001b') ? '\u001b[0m' : ''
  return `${theirs}${reset}${columns <= width ? BETWEEN : '\n'}${ours}`
}
