import type { TerminalHook } from '../../ports/terminal/wire.ts'
import type { ServiceAnswer } from './post-event.ts'
import type { RawInput } from './read-input.ts'

/** The text for the runtime, and the signals in it. */
export interface HookOutput {
  readonly text: string
  readonly passedOn: readonly string[]
}

const NOTHING: HookOutput = { text: '', passedOn: [] }

/** Fits into a pipe that nobody reads, so that writing it never waits. */
const MOST_BYTES = 60_000

const TOOL_EVENTS: readonly unknown[] = ['PostToolUse', 'PostToolBatch', 'PostToolUseFailure']

/** The runtime's name for a hook whose answer reaches the agent. Absent for the others. */
const agentEvent = (event: TerminalHook, { hook_event_name: name }: RawInput): string | undefined => {
  if (event === 'session-start') return 'SessionStart'
  if (event === 'user-prompt-submit') return 'UserPromptSubmit'
  if (event === 'post-tool-use') return TOOL_EVENTS.includes(name) ? String(name) : 'PostToolUse'
  return undefined
}

/**
 * Puts an answer into the words of the runtime; Claude Code and Codex use the same ones. A stop hook tells only the person:
 * with a word to the agent the runtime would ask the model again, and nobody wanted that. What could not be told stays queued.
 */
export const hookOutput = (
  event: TerminalHook,
  input: RawInput,
  { signals, inject, notice }: ServiceAnswer,
): HookOutput => {
  const hookEventName = agentEvent(event, input)
  const isHeard = (whom: 'agent' | 'person'): boolean =>
    whom === 'agent' ? hookEventName !== undefined : hookEventName !== undefined || event === 'stop'
  const heard = signals.filter((signal) => isHeard(signal.for))
  const textFor = (whom: 'agent' | 'person') => heard.filter((signal) => signal.for === whom).map(({ text }) => text)
  const context = [...textFor('agent'), ...(event === 'session-start' && inject !== undefined ? [inject] : [])]
  const message = [...textFor('person'), ...(notice !== undefined && isHeard('person') ? [notice] : [])]
  if (context.length + message.length === 0) return NOTHING
  const text = fitting(context.join('\n\n'), (additionalContext) =>
    JSON.stringify({
      ...(message.length > 0 && { systemMessage: message.join('\n') }),
      ...(additionalContext !== '' && { hookSpecificOutput: { hookEventName, additionalContext } }),
    }),
  )
  return text === undefined ? NOTHING : { text, passedOn: heard.map(({ id }) => id) }
}

/** The output with as much of the context as fits. Absent where even none of it does. */
const fitting = (context: string, output: (context: string) => string): string | undefined => {
  for (let length = context.length; ; length = Math.floor(length / 2)) {
    const cut = length === context.length ? context : `${context.slice(0, length)}\n[cut: too long for a hook]`
    const text = output(cut)
    if (Buffer.byteLength(text) <= MOST_BYTES) return text
    if (length === 0) return undefined
  }
}
