import type { Workspace } from '../domain/conversation/conversation.ts'
import type { ProcessIdentity } from '../domain/session/process-identity.ts'
import type { UsageTotals } from '../domain/window/usage-reading.ts'
import type { WindowEvent } from '../domain/window/window-event.ts'
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

/** One thing a runtime said: the message as it came, and what it means. */
export interface RuntimeStep<Message> {
  /** Absent when there is nothing to pass on, only something to know. */
  readonly message?: Message
  /** The runtime's own name for the session, as soon as it says so. */
  readonly providerSessionId?: string
  /** Events about the main thread's window. */
  readonly events: readonly WindowEvent[]
  /** The texts of the main thread. */
  readonly texts: readonly RecordedText[]
  /** An answer begins with it, and nothing says what its request used. */
  readonly beginsTurn?: boolean
  /** The usage of the launch so far, summed over its requests. */
  readonly totals?: UsageTotals
  /** The model that the newest of these totals is of, where it is not the one that answers on the main thread. */
  readonly usedModel?: string
  /** Said once, with the last step. */
  readonly end?: RuntimeEnd
}

/** One thing that a runtime has written down. */
export type TranscriptStep = Pick<RuntimeStep<never>, 'events' | 'texts'>

/** An agent at work. */
export interface RunningAgent<Message> {
  /** The steps of the agent until it comes to rest. Iterated once. */
  readonly steps: AsyncIterable<RuntimeStep<Message>>
  /** Whether it works on while nobody reads its steps: what it has said by then is looked at before it is interrupted. */
  readonly worksAhead?: boolean
  /**
   * Says something to it while it works, without interrupting it: it hears it before its next request. Said too late, it is
   * not heard, and makes it do nothing more. Absent where nothing can be said to an agent at work.
   */
  tell?(text: string): Promise<void>
  /** Asks it to stop where it is. Its steps end soon after. */
  interrupt(): Promise<void>
}

/** A question to a session that is not to go on working. */
export interface RuntimeQuestion {
  readonly providerSessionId: string
  readonly prompt: string
  readonly model?: string
  readonly workspace?: Workspace
  readonly signal: AbortSignal
  readonly onProcess?: OnProcess
  /** Told what the question has used so far, as it comes: one that is not answered has cost something too. */
  readonly onUsage?: (totals: UsageTotals) => void
}

/** The reply of a session, and its cost. */
export interface RuntimeReply {
  readonly text: string
  readonly totals?: UsageTotals
}

/**
 * Runs agents. Every implementation keeps these promises:
 * - `start` and `resume` return at once; whatever goes wrong later ends the steps with an `end`, or rejects them;
 * - steps come in the order the runtime said them, and the last one has an `end`;
 * - once the signal has aborted, or the steps were left early, nothing it started is running any more;
 * - `ask` is one request of the session that is asked, with no tool to use; it rejects when there is no answer;
 * - nothing of our process's own secrets reaches the agent beyond what its options say.
 */
export interface AgentRuntime<Message = unknown> {
  /** The kind of runtime, such as `claude_agent_sdk`; kept with every session. */
  readonly backend: string
  /** Whether `start` takes a name for the session, so that it is known before there is one. */
  readonly takesSessionId: boolean
  /** Whether its totals have the cost with every request: then no list price is needed. */
  readonly reportsCost?: boolean
  /** Begins a session of its own. */
  start(launch: Launch): RunningAgent<Message>
  /** Goes on in a session that was there before. Absent when the runtime cannot. */
  resume?(launch: Resumption): RunningAgent<Message>
  /** Whether a session is there and has been spoken in. Absent when the runtime cannot say. */
  has?(session: { readonly providerSessionId: string; readonly workspace?: Workspace }): Promise<boolean>
  /**
   * The runtime's own transcript of a session, from its first word to its last, for a process that was not there when
   * it was said. It ends where the record is damaged or gone, and never throws. Absent when the runtime keeps none.
   */
  transcript?(session: {
    readonly providerSessionId: string
    readonly workspace?: Workspace
  }): AsyncIterable<TranscriptStep>
  /** Asks a session one thing. Absent when nothing can be asked: there is no checkpoint then. */
  ask?(question: RuntimeQuestion): Promise<RuntimeReply>
}
