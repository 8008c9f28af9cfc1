import type { UsageTotals } from '../domain/window/usage-reading.ts'
import type { RuntimeEnd, RuntimeStep, ThreadAsked, TransferAsked } from '../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../ports/agent/window-reader.ts'

/** One answer of a scripted agent. */
export interface ScriptedTurn {
  readonly text: string
  /** Tokens of its request. Left out, the answer comes without usage. */
  readonly promptTokens?: number
  readonly outputTokens?: number
  /** The tools it calls; each answers with a word, unless it is said what it is called with and answers. */
  readonly tools?: readonly (string | ScriptedTool)[]
  /** Texts that it prints as a user's before this turn. Whatever origin they claim, they are no person's: see `originOn`. */
  readonly heard?: readonly Omit<RecordedText, 'role'>[]
  /** The runtime makes room by itself before this turn. */
  readonly afterCompaction?: boolean
  /** It asks for a handoff with this turn. */
  readonly handsOver?: TransferAsked
  /** It delegates pieces of its work with this turn. */
  readonly delegates?: readonly ThreadAsked[]
  /** The session is idle after this turn; the next prompt in the same session plays on. */
  readonly rests?: boolean
}

/** One use of a tool by a scripted agent. */
export interface ScriptedTool {
  readonly name: string
  readonly argument?: string
  /** The result of the tool; `ok` unless given. */
  readonly result?: string
}

/** The work of a scripted agent in one window. */
export interface ScriptedWindow {
  readonly turns: readonly ScriptedTurn[]
  /** How it ends after its last turn; `idle` unless given. */
  readonly end?: RuntimeEnd
  /** Its reply when it is asked for a checkpoint, or a function that makes the reply from the prompt; an error is thrown. */
  readonly checkpoint?: string | Error | ((prompt: string) => string)
  /** How long it takes to answer that. */
  readonly checkpointMs?: number
  readonly checkpointTotals?: UsageTotals
  /** The usage of the window in sum. */
  readonly totals?: UsageTotals
  /** Its turns in place of the remaining ones, once somebody has spoken to it at work. */
  readonly whenTold?: readonly ScriptedTurn[]
}

/** The script of a scripted runtime. */
export interface Script {
  /** One for each session, in the order they are started; the last one is repeated. */
  readonly windows: readonly ScriptedWindow[]
  /** How large it says its window is; left out, it does not say. */
  readonly windowTokens?: number
  readonly backend?: string
  /** Whether it takes names for its sessions; it does unless this is false. */
  readonly takesSessionId?: boolean
  /** Whether it can resume a session; it can unless this is false. */
  readonly canResume?: boolean
  /** Whether something can be said to it at work; nothing can unless this is true. */
  readonly takesInput?: boolean
  /** Whether it takes tools of ours; it does not unless this is true. Its launches say which. */
  readonly takesTools?: boolean
  /** Called before each step, and waited for. */
  readonly onStep?: (step: RuntimeStep<ScriptedMessage>) => void | Promise<void>
}

/** Something a scripted agent said. */
export interface ScriptedMessage {
  readonly role: 'user' | 'assistant' | 'tool' | 'system'
  readonly text: string
  readonly session: string
}
