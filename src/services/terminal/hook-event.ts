import type { AgentSessionId, CommandId, SignalId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { SignalDelivery, SignalKind } from '../../domain/session/context-signal.ts'
import type { TerminalRuntime, WindowVariables } from '../../ports/terminal/terminal-files.ts'
import { TERMINAL_HOOKS } from '../../ports/terminal/wire.ts'

/** The events that hooks report. */
export const TERMINAL_HOOK_EVENTS = [...TERMINAL_HOOKS, 'ack'] as const

/** The name of an event that a hook reports. */
export type HookEventName = (typeof TERMINAL_HOOK_EVENTS)[number]

/** The parts of a hook's own input that are used. `raw` is all of it, for the reader of status lines. */
export interface HookInput {
  readonly providerSessionId: string
  readonly transcriptPath?: string
  readonly cwd?: string
  /** Present when the hook was called inside a subagent. */
  readonly agentId?: string
  readonly source?: string
  readonly model?: string
  readonly trigger?: string
  readonly reason?: string
  readonly prompt?: string
  readonly costUsd?: number
  /** The tool calls that a hook is called after. */
  readonly toolCalls?: readonly string[]
  /** The variables of the runtime that say where it compacts by itself. */
  readonly variables?: WindowVariables
  /** The session that started this one, where the environment names it. */
  readonly parentSessionId?: string
  /** The provider session inside of whose tools this one was started. */
  readonly within?: string
  /** Signals that were passed on, of an `ack`. */
  readonly signals?: readonly SignalId[]
  /** How many secrets the hook hid before it passed its input on. */
  readonly hiddenByHook?: number
  readonly raw: unknown
}

/** An event of a hook. Delivered again under the same command id, it changes nothing. */
export interface TerminalHookEvent {
  readonly commandId: CommandId
  /** When the hook was called, by the clock of its machine. */
  readonly at?: Instant
  readonly event: HookEventName
  readonly runtime: TerminalRuntime
  /** How long the hook lets its answer wait for the transcript. */
  readonly waitMs?: number
  readonly input: HookInput
}

/** The possible outcomes of an event. */
export const HOOK_OUTCOMES = [
  'ok',
  'compaction_logged',
  'flags_reset',
  'stale_sample',
  'not_registered',
  'unknown_session',
  'repeated',
] as const

/** The outcome of an event. */
export type HookOutcome = (typeof HOOK_OUTCOMES)[number]

/** A signal on its way out, and whether the agent is to be told or the person. */
export interface TerminalSignal {
  readonly id: SignalId
  readonly kind: SignalKind
  readonly milestone?: string
  readonly delivery: SignalDelivery
  readonly text: string
  readonly for: 'agent' | 'person'
}

/** The answer to an event. */
export interface HookAnswer {
  readonly outcome: HookOutcome
  readonly sessionId?: AgentSessionId
  readonly signals: readonly TerminalSignal[]
  /** A text that the session is to begin with. */
  readonly inject?: string
  /** A sentence for the person. */
  readonly notice?: string
}

/** An event without its secrets, before anything is kept of it: a prompt stands in a file before it stands in the record. */
export const redactedEvent = (event: TerminalHookEvent, redact?: (text: string) => string): TerminalHookEvent => {
  const { prompt } = event.input
  if (redact === undefined || prompt === undefined) return event
  return { ...event, input: { ...event.input, prompt: redact(prompt) } }
}
