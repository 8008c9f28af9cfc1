import type * as sdk from '@openai/codex-sdk'
import type { ThreadEvent, ThreadItem, Usage } from '@openai/codex-sdk'
import type { ExecShapes } from '../../src/adapters/codex/readers/exec-reader.ts'
import type {
  CodexEvent,
  CodexOptions,
  CodexSdk,
  CodexThreadOptions,
} from '../../src/adapters/codex/runtime/codex-sdk.ts'
import type { Differences, None } from './differences.ts'

/** Totals are of the whole thread, so they tell no window; they are here because they once seemed to. */
interface ExecUsage {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
}

type Read<T extends ExecShapes['type']> = Extract<ExecShapes, { type: T }>
type ItemEvent = Extract<ExecShapes, { item: unknown }>
type ToolItem = 'command_execution' | 'file_change' | 'mcp_tool_call' | 'web_search'
type OtherItem = 'agent_message' | 'reasoning' | 'todo_list' | 'error'
type Event<T extends ThreadEvent['type']> = Extract<ThreadEvent, { type: T }>

/** Each line compiles only as long as Codex gives what we read. */
export type Reading = [
  None<Differences<Read<'thread.started'>, Event<'thread.started'>, 'thread.started'>>,
  None<Differences<Read<'turn.started'>, Event<'turn.started'>, 'turn.started'>>,
  None<Differences<Read<'turn.completed'>, Event<'turn.completed'>, 'turn.completed'>>,
  None<Differences<Read<'turn.failed'>, Event<'turn.failed'>, 'turn.failed'>>,
  None<Differences<ItemEvent['item']['id'], Event<'item.completed'>['item']['id'], 'item.completed.item.id'>>,
  None<Differences<ExecUsage, Event<'turn.completed'>['usage'], 'turn.completed.usage'>>,
]

/** The words we look for, and no item that we have not looked at. */
export type Words = [
  None<Exclude<ExecShapes['type'], ThreadEvent['type']>>,
  None<Exclude<ToolItem | OtherItem, ThreadItem['type']>>,
  None<Exclude<ThreadItem['type'], ToolItem | OtherItem>>,
]

/** Nothing when the one can be given where the other is taken. */
type Refused<Given, Taken, Name extends string> = [Given] extends [Taken] ? never : `${Name} would not be taken`

/** What the runtime gives the SDK, and takes from it. */
export type Running = [
  None<Refused<CodexOptions, sdk.CodexOptions, 'CodexOptions'>>,
  None<Exclude<keyof CodexOptions, keyof sdk.CodexOptions>>,
  None<Refused<CodexThreadOptions, sdk.ThreadOptions, 'ThreadOptions'>>,
  None<Exclude<keyof CodexThreadOptions, keyof sdk.ThreadOptions>>,
  None<Refused<{ readonly signal?: AbortSignal }, sdk.TurnOptions, 'TurnOptions'>>,
  None<Exclude<'signal', keyof sdk.TurnOptions>>,
  None<Refused<ThreadEvent, CodexEvent, 'ThreadEvent'>>,
  None<Refused<typeof sdk, CodexSdk<ThreadEvent>, 'the SDK'>>,
]

/** What would turn red. */
export type Red = [
  // @ts-expect-error a counter that becomes a text: usage.input_tokens has another type
  None<Differences<ExecUsage, Omit<Usage, 'input_tokens'> & { input_tokens: string }, 'usage'>>,
  // @ts-expect-error a counter under another name: usage.cached_input_tokens is not there
  None<Differences<ExecUsage, Omit<Usage, 'cached_input_tokens'>, 'usage'>>,
]
