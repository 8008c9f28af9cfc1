import type { ThreadEvent, ThreadItem, Usage } from '@openai/codex-sdk'
import type { Differences, None } from './differences.ts'

/** What is worth reading of `codex exec --json`. The totals are of the whole thread, so they tell no window. */
interface ExecShapes {
  readonly started: { readonly type: 'thread.started'; readonly thread_id: string }
  readonly completed: { readonly type: 'turn.completed'; readonly usage: ExecUsage }
  readonly item: { readonly type: 'item.completed'; readonly item: { readonly id: string; readonly type: string } }
  readonly failed: { readonly type: 'turn.failed'; readonly error: { readonly message: string } }
  readonly error: { readonly type: 'error'; readonly message: string }
}

interface ExecUsage {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
}

type ToolItem = 'command_execution' | 'file_change' | 'mcp_tool_call' | 'web_search'
type OtherItem = 'agent_message' | 'reasoning' | 'todo_list' | 'error'
type Event<T extends ThreadEvent['type']> = Extract<ThreadEvent, { type: T }>

/** Each line compiles only as long as Codex gives what we read. */
export type Reading = [
  None<Differences<ExecShapes['started'], Event<'thread.started'>, 'thread.started'>>,
  None<Differences<ExecShapes['completed'], Event<'turn.completed'>, 'turn.completed'>>,
  None<Differences<ExecShapes['item'], Event<'item.completed'>, 'item.completed'>>,
  None<Differences<ExecShapes['failed'], Event<'turn.failed'>, 'turn.failed'>>,
  None<Differences<ExecShapes['error'], Event<'error'>, 'error'>>,
]

/** The words we look for, and no item that we have not looked at. */
export type Words = [
  None<Exclude<ExecShapes[keyof ExecShapes]['type'], ThreadEvent['type']>>,
  None<Exclude<ToolItem | OtherItem, ThreadItem['type']>>,
  None<Exclude<ThreadItem['type'], ToolItem | OtherItem>>,
]

/** What would turn red. */
export type Red = [
  // @ts-expect-error a counter that becomes a text: usage.input_tokens has another type
  None<Differences<ExecUsage, Omit<Usage, 'input_tokens'> & { input_tokens: string }, 'usage'>>,
  // @ts-expect-error a counter under another name: usage.cached_input_tokens is not there
  None<Differences<ExecUsage, Omit<Usage, 'cached_input_tokens'>, 'usage'>>,
]
