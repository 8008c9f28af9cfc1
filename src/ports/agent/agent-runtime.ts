import type { Workspace } from '../../domain/conversation/conversation.ts'
import type { RefusedCall } from '../../domain/run/refused-tools.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'
import type { WindowEvent } from '../../domain/window/window-event.ts'
import type { ToolsEndpoint } from './run-tools.ts'
import type { RecordedText } from './window-reader.ts'

/** Everything that an agent is launched with. */
export interface Launch {
  readonly prompt: string
  /** The runtime's own name for the session: chosen in advance for a new session, or that of the session to resume. */
  readonly providerSessionId?: string
  readonly model?: string
  /** Where the work is done; the worktree comes before the working directory. */
  readonly workspace?: Workspace
  /** Ends the agent at once, whatever it is doing. */
  readonly signal: AbortSignal
  readonly onProcess?: OnProcess
  /** Tools of ours for the agent; only for a runtime that takes tools. */
  readonly tools?: ToolsEndpoint
}

/**
 * Is told of each process that is launched, and waited for before the process is given its prompt: the process that takes the
 * session over can then end it. When it rejects, the process is ended.
 */
export type OnProcess = (process: ProcessIdentity) => Promise<void>

/** A session of the runtime to resume. */
export interface Resumption extends Launch {
  readonly providerSessionId: string
}

/** How an agent came to rest. */
export type RuntimeEnd =
  /** It has answered, and waits for the next prompt. */
  | { readonly type: 'idle' }
  /** It was interrupted, by us or by somebody else. */
  | { readonly type: 'interrupted' }
  /** Its window took no more: the next request would not have fitted. */
  | { readonly type: 'overflow'; readonly message: string }
  | { readonly type: 'failed'; readonly message: string; readonly code?: string }

/** One message of a runtime: the message as it came, and what it means. */
export interface RuntimeStep<Message> {
  /** Absent when the step holds no message for the caller, only facts for the runner. */
  readonly message?: Message
  /** The runtime's own name for the session, as soon as it says so. */
  readonly providerSessionId?: string
  /** Events about the main thread's window. */
  readonly events: readonly WindowEvent[]
  /** The texts of the main thread. */
  readonly texts: readonly RecordedText[]
  /** An answer begins with this step, and no record says what its request used. */
  readonly beginsTurn?: boolean
  /** The usage of the launch so far, summed over its requests. */
  readonly totals?: UsageTotals
  /** The model that the newest of these totals is of, where it is not the one that answers on the main thread. */
  readonly usedModel?: string
  /** The agent wants to hand its work to another one. */
  readonly asksTransfer?: TransferAsked
  /** The agent delegates pieces of its work, each to be done at the same time in a thread of its own. */
  readonly asksThreads?: readonly ThreadAsked[]
  /** Tool calls that the runtime refused, because nobody had allowed them; each is told once. */
  readonly refused?: readonly RefusedCall[]
  /** How many calls changed files, where the runtime tells. */
  readonly writes?: number
  /** Present once, on the last step. */
  readonly end?: RuntimeEnd
}

/** An agent's wish to hand its work to another agent. */
export interface TransferAsked {
  /** The name of the other agent. */
  readonly to: string
  readonly reason?: string
  /** Everything that the other agent needs; it is asked for if this is absent. */
  readonly document?: string
}

/** An agent's wish that another agent does a piece of its work at the same time. */
export interface ThreadAsked {
  /** The name of the other agent. */
  readonly to: string
  /** The work, as the other agent is to be told. */
  readonly task: string
  readonly reason?: string
  /** Everything that the other agent needs beside its task. */
  readonly document?: string
}

/** One record of a runtime's transcript. */
export type TranscriptStep = Pick<RuntimeStep<never>, 'events' | 'texts'>

/** An agent at work. */
export interface RunningAgent<Message> {
  /** The steps of the agent until it is idle or ends. Iterated once. */
  readonly steps: AsyncIterable<RuntimeStep<Message>>
  /**
   * Whether the agent continues while nobody reads its steps: steps that are already there are read before it is
   * interrupted.
   */
  readonly worksAhead?: boolean
  /**
   * Tells the agent something while it works, without interrupting it: the agent gets it before its next request. A
   * text that comes too late is not delivered, and starts no new work. Absent where a runtime cannot tell a working
   * agent anything.
   */
  tell?(text: string): Promise<void>
  /** Asks it to stop where it is. Its steps end soon after. */
  interrupt(): Promise<void>
}

/** A question to a session that shall not continue its work. */
export interface RuntimeQuestion {
  readonly providerSessionId: string
  readonly prompt: string
  readonly model?: string
  readonly workspace?: Workspace
  readonly signal: AbortSignal
  readonly onProcess?: OnProcess
  /** Called with the usage of the question so far, as it comes: a question without an answer costs something too. */
  readonly onUsage?: (totals: UsageTotals) => void
}

/** The reply of a session, and its cost. */
export interface RuntimeReply {
  readonly text: string
  readonly totals?: UsageTotals
}

/**
 * Runs agents. Every implementation keeps these promises:
 * - `start` and `resume` return at once; a later error ends the steps with an `end`, or rejects them;
 * - steps come in the order in which the runtime sent them, and the last one has an `end`;
 * - once the signal has aborted, or the caller has left the steps early, no process that the runtime started is
 *   running;
 * - `ask` is one request of the session that is asked, with no tool to use; it rejects when there is no answer;
 * - no secret of our process reaches the agent, except those that its options name.
 */
export interface AgentRuntime<Message = unknown> {
  /** The kind of runtime, such as `claude_agent_sdk`; kept with every session. */
  readonly backend: string
  /** Whether `start` takes a name for the session, so that it is known before there is one. */
  readonly takesSessionId: boolean
  /** Whether its totals have the cost with every request: then no list price is needed. */
  readonly reportsCost?: boolean
  /** Whether it says itself how large the window is, with the first answers of an agent. */
  readonly reportsWindow?: boolean
  /** Whether it gives its agents the tools of a launch, and lets them be used without asking a person. */
  readonly takesTools?: boolean
  /** Begins a new session. */
  start(launch: Launch): RunningAgent<Message>
  /** Resumes an earlier session. Absent when the runtime cannot. */
  resume?(launch: Resumption): RunningAgent<Message>
  /** Whether a session exists and has at least one message. Absent when the runtime cannot tell. */
  has?(session: { readonly providerSessionId: string; readonly workspace?: Workspace }): Promise<boolean>
  /**
   * The runtime's own transcript of a session, from its first message to its last, for a process that did not run
   * the session. It ends where the transcript is damaged or missing, and never throws. Absent when the runtime keeps
   * none.
   */
  transcript?(session: {
    readonly providerSessionId: string
    readonly workspace?: Workspace
  }): AsyncIterable<TranscriptStep>
  /** Asks a session one question. Absent when the runtime cannot: then there is no checkpoint. */
  ask?(question: RuntimeQuestion): Promise<RuntimeReply>
}
