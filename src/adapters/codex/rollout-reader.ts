import { z } from 'zod'
import { defined } from '../../domain/defined.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { WindowEvent } from '../../domain/window-event.ts'
import type { WindowReader } from '../../ports/window-reader.ts'

const line = z.looseObject({
  timestamp: z.string().optional(),
  type: z.string(),
  payload: z.looseObject({ type: z.string().optional() }).catch({}),
})

const tokenUsage = z.looseObject({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() })

const tokenCount = z.looseObject({
  info: z.looseObject({
    total_token_usage: tokenUsage,
    last_token_usage: tokenUsage,
    model_context_window: z.number().positive().nullish(),
  }),
})

const RECORDS = new Set(['session_meta', 'response_item', 'compacted', 'turn_context', 'event_msg', 'world_state'])

/** Codex's own record of a thread, `~/.codex/sessions/…/rollout-….jsonl`. */
export const rolloutReader: WindowReader = {
  format: 'codex-rollout',
  recognises: (record) => {
    const parsed = line.safeParse(record)
    return (
      parsed.success &&
      RECORDS.has(parsed.data.type) &&
      typeof record === 'object' &&
      record !== null &&
      'payload' in record
    )
  },
  read: (record) => {
    const parsed = line.safeParse(record)
    return parsed.success ? readLine(parsed.data) : []
  },
}

const readLine = ({ type, payload, timestamp }: z.output<typeof line>): readonly WindowEvent[] => {
  const at = timestamp === undefined || Number.isNaN(Date.parse(timestamp)) ? undefined : instant(timestamp)
  if (type === 'event_msg' && payload.type === 'token_count') return readTokenCount(payload, at)
  // Some versions write one of these, some both; the tracker takes them as one.
  if (type === 'compacted' || (type === 'event_msg' && payload.type === 'context_compacted')) {
    return [defined({ type: 'compaction' as const, trigger: 'unknown' as const, at })]
  }
  if (type === 'event_msg' && payload.type === 'task_started') return readWindow(payload.model_context_window, at)
  if (type === 'turn_context') {
    const { model } = payload
    return typeof model === 'string' ? [defined({ type: 'model' as const, model, at })] : []
  }
  return type === 'response_item' ? readItem(payload, at) : []
}

const readTokenCount = (payload: unknown, at?: Instant): readonly WindowEvent[] => {
  const parsed = tokenCount.safeParse(payload)
  if (!parsed.success) return []
  const { total_token_usage: total, last_token_usage: last, model_context_window: window } = parsed.data.info
  const windows = readWindow(window, at)
  // After a compaction every counter is 0 but the total, which is Codex's own estimate.
  if (last.input_tokens === 0)
    return [...windows, defined({ type: 'estimate' as const, tokens: last.total_tokens, at })]
  const key = `${total.total_tokens}/${last.total_tokens}`
  const outputTokens = last.total_tokens - last.input_tokens
  return [...windows, defined({ type: 'request' as const, key, promptTokens: last.input_tokens, outputTokens, at })]
}

const readWindow = (tokens: unknown, at?: Instant): readonly WindowEvent[] =>
  typeof tokens === 'number' && tokens > 0 ? [defined({ type: 'window' as const, tokens, at })] : []

const readItem = (payload: Readonly<Record<string, unknown>>, at?: Instant): readonly WindowEvent[] => {
  const { type, call_id: callId, id, name, output } = payload
  if (typeof type !== 'string') return []
  if (type.endsWith('_call')) {
    const toolName = typeof name === 'string' ? name : type.slice(0, -'_call'.length)
    return [
      defined({
        type: 'tool_call' as const,
        callId: [callId, id].find((name) => typeof name === 'string'),
        toolName,
        at,
      }),
    ]
  }
  return type.endsWith('_output') && typeof output === 'string'
    ? [defined({ type: 'appended' as const, characters: output.length, at })]
    : []
}
