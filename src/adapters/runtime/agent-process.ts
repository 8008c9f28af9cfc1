import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { OnProcess } from '../../ports/agent-runtime.ts'
import { dyingWithUs, type Program } from '../../processes/dies-with-us.ts'
import { identityOf, newMark } from '../../processes/left-process.ts'
import { endGroup, signalGroup } from '../../processes/process-group.ts'
import { TextLines } from '../../processes/text-lines.ts'

/** After TERM and before KILL: agents put their things in order when they are asked to stop. */
const GRACE_MS = 2_000

/** What a program is started with. */
export interface ProgramStart {
  /** A line for a shell, or a program and its arguments without one. */
  readonly command: string | readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Written to its standard input, which then ends. */
  readonly input: string
  readonly onProcess?: OnProcess | undefined
}

/** How a program ended. */
export interface ProgramEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Enough of its last words to see what went wrong. */
const ERROR_TAIL = 2_000
/** No record is that long. What is, is dropped: a program that never ends its line must not fill our memory. */
const LONGEST_LINE = 64 * 1024 * 1024
/** Once the program has ended, what it left in its pipe comes at once; a process that fled may hold the pipe for ever. */
const LAST_OUTPUT_MS = 250

/** The program that is started, tied to us where it can be; none for a line that only the shell of Windows knows. */
const programOf = (
  command: string | readonly string[],
  place: { readonly cwd: string; readonly env: ProgramStart['environment'] },
): Program | undefined => {
  if (typeof command === 'string')
    return process.platform === 'win32' ? undefined : dyingWithUs({ command: '/bin/sh', args: ['-c', command] }, place)
  const [program = '', ...args] = command
  return dyingWithUs({ command: program, args }, place)
}

/** A program in a process group of its own, which ends with it, and with us. */
export class AgentProcess {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #group: number
  readonly #ended: Promise<ProgramEnd>
  readonly #killWithUs: () => void
  #errors = ''
  #isWaiting = false

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#group = child.pid as number // it has one: it was spawned
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    // Its group does not hear the terminal's signals, so a process that exits at once takes it along.
    this.#killWithUs = () => void signalGroup(this.#group, 'SIGKILL')
    process.once('exit', this.#killWithUs)
    child.on('error', () => {})
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-ERROR_TAIL)
    })
    child.stdin.on('error', () => {}) // a program need not read what it is told
  }

  /** @throws whatever the operating system says when it cannot be started, and whatever keeps it off the record */
  static async start({ command, cwd, environment: env, input, onProcess }: ProgramStart): Promise<AgentProcess> {
    const { mark, environment } = newMark()
    const options = { cwd, env: { ...env, ...environment }, detached: true, stdio: 'pipe' } as const
    const program = programOf(command, { cwd, env })
    const child =
      program === undefined
        ? spawn(command as string, { ...options, shell: true })
        : spawn(program.command, program.args, options)
    await once(child, 'spawn')
    const agent = new AgentProcess(child)
    try {
      const identity = identityOf(mark, agent.pid)
      if (identity !== undefined) await onProcess?.(identity)
    } catch (error) {
      await agent.close()
      throw error
    }
    child.stdin.end(input)
    return agent
  }

  get pid(): number {
    return this.#group
  }

  /** The last of what it wrote to its standard error. */
  get lastErrors(): string {
    return this.#errors.trim()
  }

  /** What it writes, line by line, until it has ended. */
  async *lines(): AsyncGenerator<string> {
    const { stdout } = this.#child
    stdout.setEncoding('utf8')
    void this.#ended.then(() => this.#letGo())
    const lines = new TextLines(LONGEST_LINE)
    try {
      for (const chunks = stdout.iterator() as AsyncIterator<string>; ; ) {
        this.#isWaiting = true
        const { done, value } = await chunks.next()
        this.#isWaiting = false
        if (done === true) break
        yield* lines.take(value)
      }
    } catch (error) {
      if (!stdout.destroyed) throw error // we closed it ourselves
    }
    yield* lines.end()
  }

  /** Ends what it left running, and stops listening once nothing more can come. */
  async #letGo(): Promise<void> {
    await endGroup(this.#group, { graceMs: GRACE_MS })
    const { stdout } = this.#child
    const timer = setInterval(() => {
      if (this.#isWaiting && stdout.readableLength === 0) stdout.destroy()
      if (stdout.destroyed) clearInterval(timer)
    }, LAST_OUTPUT_MS)
    timer.unref()
  }

  /** How it ended, once it has. */
  get ended(): Promise<ProgramEnd> {
    return this.#ended
  }

  /** Ends it and everything it started: asks first, then insists. */
  async stop(): Promise<void> {
    await endGroup(this.#group, { graceMs: GRACE_MS })
  }

  /** Leaves nothing of it behind. */
  async close(): Promise<void> {
    await this.stop()
    process.removeListener('exit', this.#killWithUs)
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy()
  }
}
