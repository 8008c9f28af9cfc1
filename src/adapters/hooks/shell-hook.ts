import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import { Child, type ChildExit, isFolder } from '../../processes/child.ts'
import { CappedOutput } from './capped-output.ts'
import type { Deadline } from './deadline.ts'
import { failed, type Outcome } from './outcome.ts'
import { PAYLOAD_FILE_VARIABLE, payloadFile } from './payload-file.ts'

/** After TERM and before KILL. With the time after it, well within three seconds. */
const GRACE_MS = 1_500

type ShellHook = Extract<HookSettings, { type: 'shell' }>

/** Everything that a command is started with. */
export interface ShellSurroundings {
  readonly environment: Readonly<Record<string, string>>
  /** Values that must not show in a result. */
  readonly secrets: readonly string[]
}

/** Runs a command, in the worktree when there is one. Everything it started ends with it. */
export const runShell = async (
  hook: ShellHook,
  payload: HookPayload,
  deadline: Deadline,
  { environment, secrets }: ShellSurroundings,
): Promise<Outcome> => {
  const cwd = payload.session.worktree_path ?? payload.session.working_directory ?? process.cwd()
  if (!isFolder(cwd)) return failed('hook.not_started', 'Its working directory does not exist.')
  if (deadline.signal.aborted) return deadline.outcome()
  const payloadLine = `${JSON.stringify(payload)}\n` // before the start: nothing may throw while it runs
  using file = payloadFile(payloadLine)
  const started = await start(hook.command, cwd, { ...environment, [PAYLOAD_FILE_VARIABLE]: file.path })
  if (!('child' in started)) return started
  return await finish(started.child, payloadLine, deadline, secrets) // the file is there until it has ended
}

const start = async (
  command: ShellHook['command'],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly child: Child } | Outcome> => {
  try {
    const child = new Child({ command, cwd, env, graceMs: GRACE_MS, atExit: 'SIGKILL' })
    await child.started
    return { child }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return failed('hook.not_found', 'The command was not found.')
    return failed('hook.not_started', `The command could not be started (${code ?? 'no reason given'}).`)
  }
}

const finish = async (
  child: Child,
  payloadLine: string,
  deadline: Deadline,
  secrets: readonly string[],
): Promise<Outcome> => {
  const output = keep(child.process.stdout)
  const errorOutput = keep(child.process.stderr)
  child.process.stdin.end(payloadLine)
  const ended = await endOf(child, deadline.signal)
  if (ended !== undefined) await child.closed()
  await child.close()
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
const endOf = (child: Child, signal: AbortSignal): Promise<ChildExit | undefined> =>
  new Promise((resolve) => {
    const giveUp = (): void => resolve(undefined)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    void child.exited.then((exit) => {
      signal.removeEventListener('abort', giveUp)
      resolve(exit)
    })
  })

const outcomeOf = ({ code, signal }: ChildExit, trace: Outcome): Outcome => {
  if (code === 0) return trace
  const how = signal === null ? `It ended with exit code ${code}.` : `It was ended by ${signal}.`
  return failed('hook.exit', how, trace)
}
