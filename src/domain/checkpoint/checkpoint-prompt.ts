import { fill } from '../kernel/fill.ts'
import { keptArgument } from '../turn/tool-argument.ts'
import { MAX_REFERENCED_TOOL_CALLS, type ToolCall } from '../turn/tool-call.ts'
import { citationOf, isCitable } from './checkpoint-citation.ts'
import { CHECKPOINT_SECTIONS } from './checkpoint-section.ts'

/** The values that fill a prompt for a checkpoint. */
export interface CheckpointRequest {
  readonly originalTask: string
  /** The calls that may be cited, oldest first. An agent may not see its own call ids, so the prompt lists them. */
  readonly toolCalls: readonly ListedCall[]
  /** Calls that earlier checkpoints of the conversation cited, oldest first: what they showed can be cited again. */
  readonly citedBefore?: readonly ListedCall[]
}

/** A call as the prompt lists it: its id, its tool, and what tells it from other uses of that tool. */
export type ListedCall = Pick<ToolCall, 'callId' | 'toolName' | 'argument'>

/** How many of the calls that earlier checkpoints cited are listed. */
export const MAX_CITED_BEFORE = 50

/**
 * The built-in request for a checkpoint. It leaves the original task out: the successor gets it from our record, and the
 * window that is asked has little room left.
 *
 * @example
 * ```ts
 * console.log(DEFAULT_CHECKPOINT_TEMPLATE.includes('<checkpoint>')) // => true
 * console.log(DEFAULT_CHECKPOINT_TEMPLATE.split('\n').at(-1)) // => STOP
 * ```
 */
export const DEFAULT_CHECKPOINT_TEMPLATE = `Your context window is nearly full. Another session continues this work in a fresh window.
It gets the original task word for word, and the checkpoint you write now. It sees nothing else of this conversation.

Do not use tools, and do not continue the task. Reply with the checkpoint alone, between these tags, with these headings:

<checkpoint>
{sections}
</checkpoint>

- Say what is, not what was planned. Write "none" under a heading with nothing to say.
- Under "Key decisions", give the reason with each decision: one without its reason is decided again.
- Under "Do not redo", name what was tried and failed, and what is finished, so that nobody does it again.
- Put every statement about work done into a list item of its own.
- Cite the tool call that shows the work at the end of the item, by its id, such as ${citationOf('toolu_01')}.
- Cite only ids from this list. If none fits, cite nothing: the statement is then passed on as unverified.

Tool calls on record, latest last:
{tool_calls}

Write the checkpoint, then stop.
STOP`

/**
 * The prompt that asks the outgoing agent for a checkpoint, from the built-in template or one of your own.
 *
 * A template may hold `{original_task}`, `{sections}` and `{tool_calls}`. Each is replaced where it stands, literally;
 * anything else in braces stays as it is.
 *
 * @example
 * ```ts
 * const toolCalls = [{ callId: 'toolu_01', toolName: 'run_tests', argument: 'checkout' }]
 * const prompt = checkpointPrompt({ originalTask: 'Fix the flaky test', toolCalls })
 * console.log(prompt.includes('- toolu_01 run_tests: checkout')) // => true
 *
 * const own = 'The task was "{original_task}". Where are you? {really}'
 * console.log(checkpointPrompt({ originalTask: 'Print $& and {sections}', toolCalls }, own))
 * // => The task was "Print $& and {sections}". Where are you? {really}
 * ```
 */
export const checkpointPrompt = (
  { originalTask, toolCalls, citedBefore = [] }: CheckpointRequest,
  template: string = DEFAULT_CHECKPOINT_TEMPLATE,
): string =>
  fill(template, {
    original_task: originalTask,
    sections: CHECKPOINT_SECTIONS.map((section) => `## ${section}`).join('\n'),
    tool_calls: listed(toolCalls, citedBefore),
  })

const listed = (calls: readonly ListedCall[], citedBefore: readonly ListedCall[]): string => {
  const latest = calls.filter(({ callId }) => isCitable(callId)).slice(-MAX_REFERENCED_TOOL_CALLS)
  const ids = new Set(latest.map(({ callId }) => callId))
  const before = citedBefore.filter(({ callId }) => isCitable(callId) && !ids.has(callId)).slice(-MAX_CITED_BEFORE)
  return [...before, ...latest].map(lineOf).join('\n') || '(none)'
}

/** A name is one line here, whatever it was: it must not look like part of the request. */
const lineOf = ({ callId, toolName, argument = '' }: ListedCall): string =>
  `- ${callId} ${toolName.replaceAll(/\s+/g, ' ')}${argument === '' ? '' : `: ${keptArgument(argument)}`}`
