import { keptName } from '../../domain/kernel/cut-text.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type {
  AgentRuntime,
  Launch,
  RunningAgent,
  RuntimeEnd,
  RuntimeStep,
  ThreadAsked,
  TransferAsked,
} from '../../ports/agent/agent-runtime.ts'
import type { UsageCounter, WindowReader } from '../../ports/agent/window-reader.ts'
import { type AgentChild, startAgent } from '../../processes/agent-child.ts'
import { type ChildExit, isFolder, tailOf } from '../../processes/child.ts'
import { EndReport } from './end-report.ts'

/** A program that is an agent. */
export interface CommandRuntimeOptions {
  /** A line for a shell, or a program and its arguments without one. */
  readonly command: string | readonly string[]
  /** Who may know what it writes, the most particular first. */
  readonly readers: readonly WindowReader[]
  /** All that its environment has; a few harmless variables of ours unless given. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Names what runs the agent; `command` unless given. */
  readonly backend?: string
}

/** Enough of its last words to see what went wrong. */
const MOST_COMPLAINT = 2_000
/** No record is that long. What is, is cut: a program that never ends its line must not fill our memory. */
const LONGEST_LINE = 64 * 1024 * 1024
/** After TERM and before KILL: agents put their things in order when they are asked to stop. */
const GRACE_MS = 2_000

const HARMLESS = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR', 'TERM'] as const

/**
 * Any program that reads a prompt from its standard input and writes JSON lines of a format that is known. Its result and
 * its exit code say whether the work is done. It cannot resume a session, and is not asked for a checkpoint.
 */
export const commandRuntime = (options: CommandRuntimeOptions): AgentRuntime<unknown> => {
  const { backend = 'command' } = options
  return { backend, takesSessionId: false, start: (launch) => launched(options, launch) }
}

const launched = (options: CommandRuntimeOptions, launch: Launch): RunningAgent<unknown> => {
  const stopping = new AbortController()
  const signal = AbortSignal.any([launch.signal, stopping.signal])
  return {
    worksAhead: true,
    steps: stepsOf(options, launch, signal),
    interrupt: async () => stopping.abort(new Error('The agent was interrupted.')),
  }
}

/** Nothing is started before somebody listens. */
async function* stepsOf(
  options: CommandRuntimeOptions,
  launch: Launch,
  signal: AbortSignal,
): AsyncGenerator<RuntimeStep<unknown>> {
  const end = (how: RuntimeEnd): RuntimeStep<unknown> => ({ events: [], texts: [], end: how })
  if (signal.aborted) return yield end({ type: 'interrupted' })
  const started = await begin(options, launch)
  if ('type' in started) return yield end(started)
  const { child, pid, complaint } = started
  const stop = (): void => void child.end()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const ear = new Ear(options.readers, pid)
  // What it left running ends with it.
  const isOver = child.exited.then(() => child.end())
  try {
    for await (const line of child.lines(LONGEST_LINE, isOver)) {
      const step = typeof line === 'string' ? ear.take(line) : ear.report.takeCut(line)
      if (step !== undefined) yield step
    }
    const ended = await child.exited
    await child.closed() // what it complained about may come after its last line
    yield end(signal.aborted ? { type: 'interrupted' } : endOf(ended, complaint(), ear))
  } finally {
    signal.removeEventListener('abort', stop)
    await child.close()
  }
}

const begin = async (options: CommandRuntimeOptions, { prompt, workspace, onProcess }: Launch) => {
  const cwd = workspace?.worktreePath ?? workspace?.workingDirectory ?? process.cwd()
  if (!isFolder(cwd)) return failed(`There is no folder ${cwd} to work in.`)
  const ours = Object.fromEntries(HARMLESS.map((name) => [name, process.env[name]]))
  const { command, environment: env = ours } = options
  try {
    const how = { graceMs: GRACE_MS, atExit: 'SIGKILL' } as const
    return await given(prompt, startAgent({ command, cwd, env, ...how, onProcess }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return failed(
      code === 'ENOENT' ? 'The command was not found.' : `The command could not be started (${code ?? String(error)}).`,
    )
  }
}

/** Gives a program its prompt, once it runs and is on record. @throws whatever kept it from that */
const given = async (prompt: string, { child, recorded }: AgentChild) => {
  await child.started
  const complaint = tailOf(child.process.stderr, MOST_COMPLAINT)
  try {
    await recorded
  } catch (error) {
    await child.close()
    throw error
  }
  child.process.stdin.end(prompt)
  return { child, complaint, pid: child.pid as number } // it has one: it was started
}

const failed = (message: string) => ({ type: 'failed', message }) as const

const endOf = ({ code, signal }: ChildExit, lastErrors: string, ear: Ear): RuntimeEnd => {
  const complaint = lastErrors === '' ? '' : ` It said: ${lastErrors}`
  const how = code === 0 ? 'well' : 'badly'
  const words = signal === null ? `The command ended with exit code ${code}.` : `The command was ended by ${signal}.`
  const notUnderstood = ear.isKnown
    ? undefined
    : `The command wrote no line of a known format: ${ear.formats}.${complaint}`
  return ear.report.settle({ how, words: `${words}${complaint}`, notUnderstood })
}

/** Understands what a program writes, as soon as a reader knows whose words they are. */
class Ear {
  readonly report = new EndReport()
  readonly #readers: readonly WindowReader[]
  readonly #pid: number
  #reader: WindowReader | undefined
  #usage: UsageCounter | undefined
  #isNamed = false

  constructor(readers: readonly WindowReader[], pid: number) {
    this.#readers = readers
    this.#pid = pid
  }

  get isKnown(): boolean {
    return this.#reader !== undefined
  }

  get formats(): string {
    return this.#readers.map(({ format }) => format).join(', ')
  }

  /** The step of a line; undefined when it is no record. */
  take(line: string): RuntimeStep<unknown> | undefined {
    const message = parsed(line)
    if (message === undefined) return undefined
    const asksTransfer = transferIn(message)
    if (asksTransfer !== undefined) return { events: [], texts: [], asksTransfer }
    const asksThread = threadIn(message)
    if (asksThread !== undefined) return { events: [], texts: [], asksThreads: [asksThread] }
    this.#reader ??= this.#readers.find((reader) => reader.recognises(message))
    const knowing = this.#reader === undefined ? this.#readers : [this.#reader]
    for (const reader of knowing) this.report.take(reader.ending?.(message))
    if (this.#reader === undefined) return { message, events: [], texts: [] }
    this.#usage ??= this.#reader.usage?.()
    const events = this.#reader.read(message)
    const { session, texts } = this.#reader.words?.(message) ?? { texts: [] }
    return { message, events, texts, ...this.#usage?.take(message), ...this.#named(session) }
  }

  /** It is named once, by its own word or by its process: a session that has a name is known to have been launched. */
  #named(session: string | undefined): Pick<RuntimeStep<unknown>, 'providerSessionId'> {
    if (this.#isNamed) return {}
    this.#isNamed = true
    return { providerSessionId: isUsable(session) ? session : `process ${this.#pid}` }
  }
}

/**
 * The wish of a program that another agent takes over: a line `{"type":"batonpass_handoff","to":"…"}`, with a reason and a
 * document if it likes. The runner checks what is in it.
 */
const transferIn = (message: object): TransferAsked | undefined => {
  if (!('type' in message) || message.type !== 'batonpass_handoff') return undefined
  const { to, reason, document } = message as unknown as TransferAsked
  return { to, ...defined({ reason, document }) }
}

/** The wish of a program that another agent does a piece of its work: a line `{"type":"batonpass_thread","to":"…","task":"…"}`. */
const threadIn = (message: object): ThreadAsked | undefined => {
  if (!('type' in message) || message.type !== 'batonpass_thread') return undefined
  const { to, task, reason, document } = message as unknown as ThreadAsked
  return { to, task, ...defined({ reason, document }) }
}

/** One that is blank or without end names nothing. */
const isUsable = (name: string | undefined): name is string => name !== undefined && keptName(name) === name

const parsed = (line: string): object | undefined => {
  try {
    const record: unknown = JSON.parse(line)
    return typeof record === 'object' && record !== null ? record : undefined
  } catch {
    return undefined
  }
}
