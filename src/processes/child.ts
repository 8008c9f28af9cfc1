import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { endGroup, signalGroup } from './process-group.ts'
import { type TextLine, TextLines } from './text-lines.ts'

/** Everything that a child process is started with. */
export interface ChildStart {
  /** A line for a shell, or a program and its arguments without one. */
  readonly command: string | readonly string[]
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** After TERM and before KILL, when it is ended. */
  readonly graceMs: number
  /** Sent to its group when this process exits in a hurry. */
  readonly atExit: 'SIGTERM' | 'SIGKILL'
}

/** How a process ended. Both are null when it never started. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** How long the last output of a process that has ended is waited for: it comes at once. */
const LAST_OUTPUT_MS = 500
const LOOK_EVERY_MS = 100

/** A child process that leads a group of its own, so that everything it starts ends with it, and with us. */
export class Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Resolves once it runs; rejects with the word of the operating system when it cannot be started. */
  readonly started: Promise<void>
  readonly exited: Promise<ChildExit>
  readonly #closed: Promise<void>
  readonly #start: ChildStart

  constructor(start: ChildStart) {
    this.#start = start
    const child = spawned(start)
    this.process = child
    this.started = new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    this.started.catch(() => {}) // the caller that gives it work sees the failure
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      child.once('error', () => resolve({ code: null, signal: null }))
    })
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()))
    child.on('error', () => {})
    // It need not read what it is told. Without files to open there is no pipe at all.
    child.stdin?.on('error', () => {})
    if (child.pid === undefined) return
    if (running.size === 0) process.on('exit', signalRunning)
    running.add(this)
  }

  /** Also names its group. Absent when it could not be started. */
  get pid(): number | undefined {
    return this.process.pid
  }

  /** Sends a signal to the process and what it started. */
  signal(name: NodeJS.Signals): void {
    if (this.pid !== undefined) signalGroup(this.pid, name)
  }

  /** Signals its group because this process exits. */
  abandon(): void {
    this.signal(this.#start.atExit)
  }

  /** Waits until all its output is read, though not for a process that fled with its pipes. */
  async closed(): Promise<void> {
    await Promise.race([this.#closed, pause(LAST_OUTPUT_MS, undefined, { ref: false })])
  }

  /**
   * The lines of its output. A line of more than `longest` characters is cut, and says so. A process that fled may hold the pipe for
   * ever: once the child `isOver` and its reader has waited for a while, nothing more is expected.
   */
  async *lines(longest: number, isOver: Promise<unknown> = this.exited): AsyncGenerator<TextLine> {
    const { stdout } = this.process
    const lines = new TextLines(longest)
    const chunks = stdout.setEncoding('utf8').iterator() as AsyncIterator<string>
    const reading = { isWaiting: false, taken: 0 }
    void isOver.then(() => letGo(stdout, reading))
    try {
      for (;;) {
        reading.isWaiting = true
        const { done, value } = await chunks.next()
        reading.isWaiting = false
        reading.taken += 1
        if (done === true) break
        yield* lines.take(value)
      }
    } catch (error) {
      if (!stdout.destroyed) throw error // we closed it ourselves
    }
    yield* lines.end()
  }

  /** Ends it and everything it started: asks first, then insists. */
  async end(): Promise<void> {
    if (this.pid !== undefined) await endGroup(this.pid, this.#start.graceMs)
  }

  /** Leaves nothing of it behind. */
  async close(): Promise<void> {
    await this.end()
    running.delete(this)
    if (running.size === 0) process.off('exit', signalRunning)
    for (const stream of this.process.stdio) stream?.destroy()
  }
}

/** Keeps the end of what a stream says: enough to see what went wrong. */
export const tailOf = (stream: NodeJS.ReadableStream, most: number, hear?: (text: string) => void): (() => string) => {
  let tail = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-most)
    hear?.(text)
  })
  return () => tail.trim()
}

/** Whether there is such a folder. A process that is started in another is said to be missing itself. */
export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const spawned = ({ command, cwd, env }: ChildStart): ChildProcessWithoutNullStreams => {
  // Detached makes it the leader of a group of its own. The group does not hear the terminal's signals.
  const options = { cwd, env, detached: true, stdio: 'pipe' } as const
  if (typeof command === 'string') return spawn(command, { ...options, shell: true })
  const [program = '', ...args] = command
  return spawn(program, args, options)
}

/** Stops listening to a process that has ended, once its reader has waited for a while and nothing came. */
const letGo = (
  stdout: ChildProcessWithoutNullStreams['stdout'],
  reading: { readonly isWaiting: boolean; readonly taken: number },
): void => {
  let [taken, idleMs] = [reading.taken, 0]
  const timer = setInterval(() => {
    const isIdle = reading.isWaiting && stdout.readableLength === 0 && reading.taken === taken
    taken = reading.taken
    idleMs = isIdle ? idleMs + LOOK_EVERY_MS : 0
    if (idleMs >= LAST_OUTPUT_MS) stdout.destroy()
    if (stdout.destroyed) clearInterval(timer)
  }, LOOK_EVERY_MS)
  timer.unref()
}

const running = new Set<Child>()
const signalRunning = (): void => {
  for (const child of running) child.abandon()
}
