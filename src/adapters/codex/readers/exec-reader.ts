import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { saysTooLong } from '../../../domain/run/agent-end.ts'
import { argumentIn } from '../../../domain/turn/tool-argument.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { ReportedEnd, WindowReader } from '../../../ports/agent/window-reader.ts'
import { execWords } from './exec-words.ts'
import { threadUsage } from './rollout-totals.ts'

const event = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.looseObject({ type: z.literal('turn.started') }),
  z.looseObject({ type: z.literal('turn.completed') }),
  z.looseObject({ type: z.literal('turn.failed') }),
  z.looseObject({
    type: z.enum(['item.started', 'item.updated', 'item.completed']),
    item: z.looseObject({ id: z.string(), type: z.string(), tool: z.unknown().optional() }),
  }),
])

/** The parts of the events that we read, as they arrive. `test/agents` holds it against the SDK's own types. */
export type ExecShapes = z.input<typeof event>

/** Items in which a tool was used, and what the tool is called when the item does not name it. */
const TOOLS: Readonly<Record<string, string>> = {
  command_execution: 'shell',
  file_change: 'apply_patch',
  mcp_tool_call: 'mcp',
  web_search: 'web_search',
}

const ended = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('turn.completed') }),
  z.looseObject({
    type: z.literal('turn.failed'),
    error: z.looseObject({ message: z.string() }).optional().catch(undefined),
  }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
])

/** How the work came to its end, as one event says it: an `error` may be followed by another try. */
const endIn = (event: unknown): ReportedEnd | undefined => {
  const { data: ending } = ended.safeParse(event)
  if (ending === undefined) return undefined
  if (ending.type === 'turn.completed') return { end: { type: 'idle' }, isFinal: true }
  const words = ending.type === 'error' ? ending.message : ending.error?.message
  const message = words || 'The turn failed, and Codex gave no reason.'
  return {
    end: { type: saysTooLong(message) ? 'overflow' : 'failed', message },
    isFinal: ending.type === 'turn.failed',
  }
}

/**
 * Reads events of `codex exec --json`, which are those of the Codex SDK.
 *
 * They cannot say how full the window is: the usage of a completed turn sums over the whole thread, and neither the
 * window nor a compaction is ever named. So there is no reading here, only answers and tool calls. For readings follow
 * the rollout of the same thread.
 *
 * @example
 * ```ts
 * const item = { id: 'item_1', type: 'agent_message', text: 'Done.' }
 * console.log(execReader.read({ type: 'item.completed', item }).map(({ type }) => type).join()) // => unmetered
 * ```
 */
export const execReader: WindowReader = {
  format: 'codex-exec',
  recognises: (record) => event.safeParse(record).success,
  read: (record) => {
    const parsed = event.safeParse(record)
    return parsed.success ? readEvent(parsed.data) : []
  },
  usage: threadUsage,
  words: execWords,
  ending: endIn,
}

const readEvent = (sent: z.output<typeof event>): readonly WindowEvent[] => {
  switch (sent.type) {
    case 'thread.started':
      return [{ type: 'thread', thread: sent.thread_id }]
    case 'turn.completed':
    case 'turn.started':
    case 'turn.failed':
      return []
    default:
      return readItem(sent.item, sent.type === 'item.completed')
  }
}

const readItem = (
  { id, type, tool, ...item }: { id: string; type: string; tool?: unknown },
  isCompleted: boolean,
): readonly WindowEvent[] => {
  if (type === 'agent_message') return isCompleted ? [{ type: 'unmetered', key: id }] : []
  const usualName = Object.hasOwn(TOOLS, type) ? TOOLS[type] : undefined
  if (usualName === undefined) return []
  const { command, changes, arguments: given, query } = item as Readonly<Record<string, unknown>>
  const argument = argumentIn(command ?? changes ?? given ?? query)
  return [
    defined({
      type: 'tool_call' as const,
      callId: id,
      toolName: typeof tool === 'string' ? tool : usualName,
      argument,
    }),
  ]
}
