import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { HookPayload } from '../../ports/hook-payload.ts'
import { endGroup } from '../../processes/process-group.ts'
import { CappedOutput } from './capped-output.ts'
import type { Deadline } from './deadline.ts'
import { failed, type Outcome } from './outcome.ts'

/** After TERM and before KILL. With the time after it, well within three seconds. */
const GRACE_MS = 1_500

type ShellHook = Extract<HookSettings, { type: 'shell' }>

/** What a command is started with. */
export interface ShellSurroundings {
  readonly environment: Readonly<Record<string, string>>
  /** Values that must not show in a result. */
  readonly secrets: readonly string[]
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Once a command has ended, what is left in its pipes comes at once; a process that fled may hold them for ever. */
const LAST_OUTPUT_MS = 200

/** Runs a command, in the worktree when there is one. Everything it started ends with it. */
export const runShell = async (
  hook: ShellHook,
  payload: HookPayload,
  deadline: Deadline,
  { environment, secrets }: ShellSurroundings,
): Promise<Outcome> => {
  const cwd = payload.session.worktree_path ?? payload.session.working_directory ?? process.cwd()
  if (!(await isDirectory(cwd))) return failed('hook.not_started', 'Its working directory does not exist.')
  if (deadline.signal.aborted) return deadline.outcome()
  const told = `${JSON.stringify(payload)}\n` // before the start: nothing may throw while it runs
  const started = await start(hook.command, cwd, environment)
  if (!('child' in started)) return started
  return finish(started.child, told, deadline, secrets)
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

const start = async (
  command: ShellHook['command'],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly child: ChildProcessWithoutNullStreams } | Outcome> => {
  // Detached makes it the leader of a group of its own, so that its children can be ended with it.
  const options = { cwd, env, detached: true, stdio: 'pipe' } as const
  try {
    const [program = '', ...args] = command
    const child =
      typeof command === 'string' ? spawn(command, { ...options, shell: true }) : spawn(program, args, options)
    await once(child, 'spawn')
    return { child }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return failed('hook.not_found', 'The command was not found.')
    return failed('hook.not_started', `The command could not be started (${code ?? 'no reason given'}).`)
  }
}

const finish = async (
  child: ChildProcessWithoutNullStreams,
  told: string,
  deadline: Deadline,
  secrets: readonly string[],
): Promise<Outcome> => {
  const group = child.pid as number // it has one: it was spawned
  const output = keep(child.stdout)
  const errorOutput = keep(child.stderr)
  const isClosed = new Promise((resolve) => child.once('close', resolve))
  child.on('error', () => {})
  child.stdin.on('error', () => {}) // a command need not read what it is told
  child.stdin.end(told)
  const ended = await endOf(child, deadline.signal)
  if (ended !== undefined) await Promise.race([isClosed, pause(LAST_OUTPUT_MS, undefined, { ref: false })])
  await endGroup(group, { graceMs: GRACE_MS })
  child.stdout.destroy()
  child.stderr.destroy()
  const written = errorOutput.text(secrets)
  const trace = defined({
    output: output.text(secrets),
    errorOutput: written === '' ? undefined : written,
    exitCode: ended?.code ?? undefined,
  })
  return ended === undefined ? deadline.outcome(trace) : outcomeOf(ended, trace)
}

const keep = (stream: NodeJS.ReadableStream): CappedOutput => {
  const output = new CappedOutput()
  stream.on('data', (chunk: Buffer) => output.add(chunk))
  return output
}

/** How the command ended, or undefined when it has to be ended. */
const endOf = (child: ChildProcessWithoutNullStreams, signal: AbortSignal): Promise<Ended | undefined> =>
  new Promise((resolve) => {
    const giveUp = (): void => resolve(undefined)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    child.once('exit', (code, by) => {
      signal.removeEventListener('abort', giveUp)
      resolve({ code, signal: by })
    })
  })

const outcomeOf = ({ code, signal }: Ended, trace: Outcome): Outcome => {
  if (code === 0) return trace
  const how = signal === null ? `It ended with exit code ${code}.` : `It was ended by ${signal}.`
  return failed('hook.exit', how, trace)
}
