import { defined } from '../../domain/kernel/defined.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import type {
  AgentRuntime,
  Launch,
  Resumption,
  RunningAgent,
  RuntimeQuestion,
  RuntimeReply,
  RuntimeStep,
} from '../../ports/agent/agent-runtime.ts'
import type { WindowReader } from '../../ports/agent/window-reader.ts'
import { EndReport, type Stopped } from './end-report.ts'

/** The meaning of a message; unknown parts are left out. */
export type MessageMeaning = Partial<Omit<RuntimeStep<never>, 'message'>>

/** An agent as a function that yields messages, and how to read them. */
export interface FunctionRuntimeOptions<Message> {
  /** The kind of runtime; stored with every session. */
  readonly backend: string
  /** Begins a session. Its signal aborts when the agent is to stop; ending means that the work is done. */
  readonly start: (launch: Launch) => AsyncIterable<Message>
  /** Resumes an earlier session. */
  readonly resume?: (launch: Resumption) => AsyncIterable<Message>
  /** Reads the meaning of a message: a function of your own, or one of the readers. */
  readonly read: ((message: Message) => MessageMeaning) | WindowReader
  /** Asks a session for its checkpoint, with no tool to use. */
  readonly ask?: (question: RuntimeQuestion) => Promise<RuntimeReply>
  readonly has?: AgentRuntime['has']
  /** Says something to an agent at work, by its launch, without interrupting it; see `RunningAgent`. */
  readonly tell?: (text: string, launch: Launch) => Promise<void>
  /** Whether its totals have the cost with every request: then no list price is needed under a cap. */
  readonly reportsCost?: boolean
  /** The agent's own transcript of a session, for the process that takes the session over. */
  readonly transcript?: AgentRuntime['transcript']
  /** Whether the agent continues while nobody asks for its next message, as a process or a socket does. */
  readonly worksAhead?: boolean
  /** Whether `start` takes a name for the session. */
  readonly takesSessionId?: boolean
  /** Whether its records say how large the window is, so that nobody need be told that it is not known yet. */
  readonly reportsWindow?: boolean
  /** Whether it gives its agents the `tools` of a launch, which is an MCP server. */
  readonly takesTools?: boolean
}

/**
 * Any agent that yields messages, as a runtime.
 *
 * @example
 * ```ts
 * const runtime = functionRuntime({
 *   backend: 'echo',
 *   start: async function* ({ prompt }) {
 *     yield { id: 'answer-1', text: `You said: ${prompt}` }
 *   },
 *   read: ({ id, text }) => ({
 *     events: [{ type: 'request', key: id, promptTokens: 40, outputTokens: 9 }],
 *     texts: [{ role: 'assistant', text }],
 *   }),
 * })
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const run = batonpass.run({ runtime, agent: 'echo', prompt: 'Hello' })
 * for await (const message of run) console.log(message.text) // => You said: Hello
 * ```
 */
export const functionRuntime = <Message>(options: FunctionRuntimeOptions<Message>): AgentRuntime<Message> => {
  const { backend, start, resume, ask, has, transcript, reportsCost, reportsWindow, takesTools } = options
  const { takesSessionId = false, worksAhead = false, tell } = options
  const run = { read: options.read, worksAhead, tell }
  return {
    backend,
    takesSessionId,
    ...defined({ reportsCost, reportsWindow, takesTools }),
    start: (launch) => launched(start, launch, run),
    ...(resume !== undefined && { resume: (launch: Resumption) => launched(resume, launch, run) }),
    ...(ask !== undefined && { ask }),
    ...(has !== undefined && { has }),
    ...(transcript !== undefined && { transcript }),
  }
}

/** The meaning of the messages of one launch. A reader counts the usage of each launch. */
const meaningOf = <Message>(
  read: FunctionRuntimeOptions<Message>['read'],
  report: EndReport,
): ((message: Message) => MessageMeaning) => {
  if (typeof read === 'function') return read
  const usage = read.usage?.()
  return (message) => {
    report.take(read.ending?.(message))
    const { session: providerSessionId, texts } = read.words?.(message) ?? { texts: [] }
    return { events: read.read(message), texts, ...usage?.take(message), ...defined({ providerSessionId }) }
  }
}

/** An answer without usage is a turn too. */
const inFull = <Message>(message: Message, given: MessageMeaning | undefined): RuntimeStep<Message> => {
  const { events = [], texts = [], ...meaning } = given ?? {}
  // A reader of the caller may put anything here; the runner checks the step.
  const isSaid = events.some((event) => event?.type === 'request' || event?.type === 'unmetered')
  const beginsTurn = !isSaid && texts.some((text) => text?.role === 'assistant')
  return { ...(beginsTurn && { beginsTurn }), ...meaning, events, texts, message }
}

const launched = <Message, L extends Launch>(
  begin: (launch: L) => AsyncIterable<Message>,
  launch: L,
  {
    read,
    worksAhead,
    tell,
  }: Pick<FunctionRuntimeOptions<Message>, 'read'> & {
    readonly worksAhead: boolean
    readonly tell: FunctionRuntimeOptions<Message>['tell'] | undefined
  },
): RunningAgent<Message> => {
  const report = new EndReport()
  const meaning = meaningOf(read, report)
  const stopping = new AbortController()
  const signal = AbortSignal.any([launch.signal, stopping.signal])
  const steps = async function* (): AsyncGenerator<RuntimeStep<Message>> {
    let hasEnded = false
    let stopped: Stopped = { how: 'well', words: '' }
    try {
      for await (const message of begin({ ...launch, signal })) {
        const step = inFull(message, meaning(message))
        hasEnded ||= step.end !== undefined
        yield step
        if (signal.aborted) break
      }
    } catch (error) {
      // An error that it throws because it was told to stop is no failure.
      stopped = { how: 'badly', words: describeThrown(error) }
      if (!signal.aborted && (hasEnded || !report.explains(stopped.words))) throw error
    }
    if (hasEnded) return
    const left = { type: stopping.signal.aborted ? 'interrupted' : 'idle' } as const
    yield { events: [], texts: [], end: signal.aborted ? left : report.settle(stopped) }
  }
  return {
    worksAhead,
    steps: steps(),
    ...(tell !== undefined && { tell: (text: string) => tell(text, launch) }),
    interrupt: async () => stopping.abort(new Error('The agent was interrupted.')),
  }
}
