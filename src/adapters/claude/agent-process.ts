import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { OnProcess } from '../../ports/agent-runtime.ts'
import { dyingWithUs } from '../../processes/dies-with-us.ts'
import { identityOf, newMark } from '../../processes/left-process.ts'
import { signalGroup } from '../../processes/process-group.ts'
import { endTree } from './process-tree.ts'

/** What a process is started with. */
export interface ProcessStart {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Told what it writes to its error output, as it comes. */
  readonly stderr?: (text: string) => void
  /** Is told of the process; whoever gives it its prompt waits for {@link AgentProcess.recorded} first. */
  readonly onProcess?: OnProcess | undefined
}

/** Enough to say what went wrong. */
const MOST_COMPLAINT = 4_000
/** What is left in its pipes comes at once. */
const LAST_OUTPUT_MS = 500
/** After its last message it only has to save and to tidy up. */
const FINISH_MS = 5_000

/** A process in a group of its own, so that what it starts can be ended with it. */
export class AgentProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly #exit: Promise<void>
  readonly #close: Promise<void>
  #complaint = ''
  /** Resolves once the process is on record, so that it may be given work. */
  readonly recorded: Promise<void>

  constructor({ command, args, cwd, env, stderr, onProcess }: ProcessStart) {
    const { mark, environment } = newMark()
    const program = dyingWithUs({ command, args }, { cwd, env })
    const options = { cwd, env: { ...env, ...environment }, detached: true, stdio: 'pipe' } as const
    this.child = spawn(program.command, program.args, options)
    const identity = this.child.pid === undefined ? undefined : identityOf(mark, this.child.pid)
    this.recorded = identity === undefined ? Promise.resolve() : Promise.resolve(onProcess?.(identity))
    this.recorded.catch(() => {}) // whoever gives it work is told
    this.#exit = new Promise((resolve) => {
      this.child.once('exit', () => resolve())
      this.child.once('error', () => resolve())
    })
    this.#close = new Promise((resolve) => {
      this.child.once('close', () => resolve())
    })
    this.child.stdin.on('error', () => {}) // it need not read what it is told
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-MOST_COMPLAINT)
      stderr?.(text)
    })
    if (running.size === 0) process.on('exit', endRunning)
    running.add(this)
  }

  complaint(): string {
    return this.#complaint.trim()
  }

  signal(name: NodeJS.Signals): void {
    if (this.child.pid !== undefined) signalGroup(this.child.pid, name)
  }

  /** Waits until it has ended and its last complaint is read, though not for a process that fled with its pipes. */
  async closed(): Promise<void> {
    await Promise.race([this.#close, pause(LAST_OUTPUT_MS, undefined, { ref: false })])
  }

  /** Ends it and what it started, after a moment to end by itself when it has finished. */
  async end(hasFinished: boolean): Promise<void> {
    if (hasFinished) await Promise.race([this.#exit, pause(FINISH_MS, undefined, { ref: false })])
    if (this.child.pid !== undefined) await endTree(this.child.pid)
    running.delete(this)
    if (running.size === 0) process.off('exit', endRunning)
    this.child.stdout.destroy()
    this.child.stderr.destroy()
  }
}

/** A group of its own outlives us, unless it is ended when we end. */
const running = new Set<AgentProcess>()
const endRunning = (): void => {
  for (const agent of running) agent.signal('SIGTERM')
}

/** @throws when the directory is not there; a process started in it would be said to be missing itself */
export const checkDirectory = async (path: string | undefined): Promise<void> => {
  if (path === undefined) return
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) throw new Error(`The working directory ${path} does not exist.`)
}
