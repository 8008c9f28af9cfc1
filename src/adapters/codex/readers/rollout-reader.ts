import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { instantIn } from '../../../domain/kernel/instant.ts'
import { argumentIn } from '../../../domain/turn/tool-argument.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { WindowReader } from '../../../ports/agent/window-reader.ts'
import type { TranscriptFork } from '../../../ports/terminal/terminal-files.ts'
import { isByCodex } from './codex-origin.ts'
import { RolloutTail } from './rollout-tail.ts'
import { threadUsage } from './rollout-totals.ts'
import { rolloutWords } from './rollout-words.ts'

const line = z.looseObject({
  timestamp: z.string().optional().catch(undefined),
  thread_id: z.string().optional().catch(undefined),
  type: z.string(),
  payload: z
    .looseObject({ type: z.string().optional(), thread_id: z.string().optional() })
    .catch({ type: undefined, thread_id: undefined }),
})

type Line = z.output<typeof line>
/** When it was said, and by which thread where that is said too. */
type Origin = Pick<WindowEvent, 'at' | 'thread'>

const count = z.number().int().nonnegative()
const tokenUsage = z.looseObject({ input_tokens: count, total_tokens: count })

const tokenCount = z.looseObject({
  info: z.looseObject({
    total_token_usage: tokenUsage.optional().catch(undefined),
    last_token_usage: tokenUsage.optional().catch(undefined),
    model_context_window: z.unknown().optional(),
  }),
})

/** One for each response, from version 0.154 on: written before the tools that the response calls have run. */
const usageRecord = z.looseObject({
  response_id: z.string().catch(''),
  usage: tokenUsage,
  thread_token_usage: tokenUsage.optional().catch(undefined),
})

const RECORDS = [
  ...(['session_meta', 'response_item', 'compacted', 'turn_context', 'event_msg', 'world_state'] as const),
  'token_usage_record',
] as const
const recognised = z.looseObject({ type: z.enum(RECORDS), payload: z.looseObject({}) })

/**
 * Reads Codex's own record of a thread, `~/.codex/sessions/…/rollout-….jsonl`.
 *
 * A reading is `last_token_usage`, whose input already holds the cached part. `total_token_usage` sums over the thread
 * and only tells one request from another. A `token_usage_record` says the same of the same request, and counts where there
 * is nothing else.
 *
 * @example
 * ```ts
 * const last_token_usage = { input_tokens: 128_000, output_tokens: 1_200, total_tokens: 129_200 }
 * const total_token_usage = { input_tokens: 1_350_000, output_tokens: 12_757, total_tokens: 1_362_757 }
 * const info = { last_token_usage, total_token_usage, model_context_window: 258_400 }
 * const [, event] = rolloutReader.read({ type: 'event_msg', payload: { type: 'token_count', info } })
 * console.log(event?.type === 'request' && event.promptTokens + event.outputTokens) // => 129200
 * ```
 */
export const rolloutReader: WindowReader = {
  format: 'codex-rollout',
  recognises: (record) => recognised.safeParse(record).success,
  read: (record) => {
    const parsed = line.safeParse(record)
    return parsed.success ? readLine(parsed.data) : []
  },
  words: rolloutWords,
  isOwnPrompt: isByCodex,
  usage: threadUsage,
}

const readLine = (record: Line): readonly WindowEvent[] => {
  const { type, payload, timestamp, thread_id } = record
  const from: Origin = defined({ at: instantIn(timestamp), thread: thread_id ?? payload.thread_id })
  if (type === 'session_meta') return readSession(payload, from)
  if (type === 'turn_context') return readModel(payload.model, from)
  if (type === 'response_item') return readItem(payload, from)
  if (type === 'token_usage_record') return readUsageRecord(payload, from)
  // Some versions write one of these, some both; the gauge takes them as one.
  const what = type === 'event_msg' ? payload.type : type
  if (what === 'compacted' || what === 'context_compacted') {
    const key = timestamp === undefined ? undefined : `${what} ${timestamp}`
    return [defined({ ...from, type: 'compaction' as const, trigger: 'unknown' as const, key })]
  }
  if (type !== 'event_msg') return []
  if (what === 'task_started') return readWindow(payload.model_context_window, from)
  return what === 'token_count' ? readTokenCount(payload, from) : []
}

const sessionMeta = z.looseObject({
  id: z.string(),
  parent_thread_id: z.string().optional().catch(undefined),
  source: z
    .looseObject({ subagent: z.looseObject({ thread_spawn: z.looseObject({ parent_thread_id: z.string() }) }) })
    .optional()
    .catch(undefined),
})

const readSession = (payload: unknown, { at }: Origin): readonly WindowEvent[] => {
  const parsed = sessionMeta.safeParse(payload)
  if (!parsed.success) return []
  const { id: thread, parent_thread_id, source } = parsed.data
  const parent = source?.subagent.thread_spawn.parent_thread_id ?? parent_thread_id
  return [defined({ type: 'thread' as const, thread, parent, at })]
}

const readModel = (model: unknown, from: Origin): readonly WindowEvent[] =>
  typeof model === 'string' ? [{ ...from, type: 'model', model }] : []

const readTokenCount = (payload: unknown, from: Origin): readonly WindowEvent[] => {
  const parsed = tokenCount.safeParse(payload)
  if (!parsed.success) return []
  const { total_token_usage: total, last_token_usage: last, model_context_window: window } = parsed.data.info
  const windows = readWindow(window, from)
  if (last === undefined || total === undefined) return windows
  // After a compaction every counter is 0 but the total, which is Codex's own estimate.
  if (last.input_tokens === 0) return [...windows, { ...from, type: 'estimate', tokens: last.total_tokens }]
  // Written after the results of the tools that the answer called, which are not in it.
  return [...windows, { ...from, type: 'request', ...countOf(last, keyOf(total, last)), isLate: true }]
}

type TokenUsage = z.output<typeof tokenUsage>

/** The sum of the thread and what was added to it: no two requests have both. */
const keyOf = (total: TokenUsage, last: TokenUsage): string => `${total.total_tokens}/${last.total_tokens}`

const countOf = (last: TokenUsage, key: string) => ({
  key,
  promptTokens: last.input_tokens,
  outputTokens: Math.max(0, last.total_tokens - last.input_tokens),
})

const readUsageRecord = (payload: unknown, from: Origin): readonly WindowEvent[] => {
  const parsed = usageRecord.safeParse(payload)
  if (!parsed.success || parsed.data.usage.input_tokens === 0) return []
  const { usage, thread_token_usage: total, response_id } = parsed.data
  const key = total === undefined ? response_id : keyOf(total, usage)
  return key === '' ? [] : [{ ...from, type: 'response_usage', ...countOf(usage, key) }]
}

const readWindow = (tokens: unknown, from: Origin): readonly WindowEvent[] =>
  typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0 ? [{ ...from, type: 'window', tokens }] : []

const readItem = (payload: Line['payload'], from: Origin): readonly WindowEvent[] => {
  const { type = '', call_id, id, name, output, arguments: given, input, action } = payload
  const callId = [call_id, id].find((one) => typeof one === 'string')
  if (type.endsWith('_call')) {
    const toolName = typeof name === 'string' ? name : type.slice(0, -'_call'.length)
    const argument = argumentIn(fromJson(given) ?? input ?? action)
    return [defined({ ...from, type: 'tool_call' as const, callId, toolName, argument })]
  }
  return type.endsWith('_output') && typeof output === 'string'
    ? [defined({ ...from, type: 'appended' as const, characters: output.length, key: callId })]
    : []
}

/** The arguments of a function come as JSON in a text. */
const fromJson = (given: unknown): unknown => {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

const forkedFrom = z.object({ type: z.literal('session_meta'), payload: z.object({ forked_from_id: z.string() }) })

/** Finds the session that a rollout is a fork of: its first record names it, and nothing is copied. */
export const codexForkOf = async (path: string): Promise<readonly TranscriptFork[]> => {
  for await (const record of new RolloutTail(path).records()) {
    const { data } = forkedFrom.safeParse(record)
    return data === undefined ? [] : [{ source: data.payload.forked_from_id, copied: 0 }]
  }
  return []
}
