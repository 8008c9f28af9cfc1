import { setTimeout as pause } from 'node:timers/promises'
import type { OnProcess } from '../../../ports/agent/agent-runtime.ts'
import { startAgent } from '../../../processes/agent-child.ts'
import { type Child, isFolder, tailOf } from '../../../processes/child.ts'

/** Everything that a process of Claude is started with. */
export interface ClaudeStart {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Told what it writes to its error output, as it comes. */
  readonly stderr?: (text: string) => void
  /** Is told of the process; the caller that gives it its prompt waits for {@link ClaudeProcess.recorded} first. */
  readonly onProcess?: OnProcess | undefined
}

/** Enough to say what went wrong. */
const MOST_COMPLAINT = 4_000
/** After its last message it only has to save and to tidy up. */
const FINISH_MS = 5_000
/** After TERM and before KILL. The command needs a moment: it ends its tools, which run in groups of their own. */
const GRACE_MS = 2_500

/** A process of Claude. */
export class ClaudeProcess {
  readonly child: Child
  /** Resolves once the process is on record, so that it may be given work. */
  readonly recorded: Promise<void>
  /** The end of what it wrote to its error output. */
  readonly complaint: () => string

  constructor({ command, args, cwd, env, stderr, onProcess }: ClaudeStart) {
    const how = { graceMs: GRACE_MS, atExit: 'SIGTERM' } as const
    const { child, recorded } = startAgent({ command: [command, ...args], cwd, env, ...how, onProcess })
    this.child = child
    this.recorded = recorded
    this.complaint = tailOf(child.process.stderr, MOST_COMPLAINT, stderr)
  }

  /** Ends it and what it started, after a moment to end by itself when it has finished. */
  async end(hasFinished: boolean): Promise<void> {
    if (hasFinished) await Promise.race([this.child.exited, pause(FINISH_MS, undefined, { ref: false })])
    await this.child.close()
  }
}

/** @throws when the directory is not there; a process started in it would be said to be missing itself */
export const checkDirectory = (path: string | undefined): void => {
  if (path !== undefined && !isFolder(path)) throw new Error(`The working directory ${path} does not exist.`)
}
