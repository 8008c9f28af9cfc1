import { z } from 'zod'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { WindowReader } from '../../../ports/agent/window-reader.ts'
import { compactionPoint } from '../settings/compaction-point.ts'
import { counters, promptOf } from './claude-message.ts'

const status = z.looseObject({
  session_id: z.string().catch(''),
  model: z.looseObject({ id: z.string() }).optional().catch(undefined),
  context_window: z.looseObject({
    context_window_size: z.number().positive().optional().catch(undefined),
    current_usage: z.unknown().optional(),
    used_percentage: z.number().nonnegative().optional().catch(undefined),
  }),
})

/**
 * Reads the JSON that Claude Code gives to a status line command.
 *
 * `current_usage` is a reading. The totals beside it were sums over the session once and are not used; the percentage
 * leaves the output out, and is taken where nothing is counted. Before the first request, and after a compaction, the
 * runtime has neither and the window is unknown.
 *
 * @example
 * ```ts
 * const current_usage = { input_tokens: 486, output_tokens: 2, cache_creation_input_tokens: 281, cache_read_input_tokens: 160_014 }
 * const events = statusLineReader.read({ context_window: { context_window_size: 200_000, current_usage } })
 * console.log(events.map(({ type }) => type).join(' ')) // => window request
 * ```
 */
export const statusLineReader: WindowReader = {
  format: 'claude-status-line',
  recognises: (record) => status.safeParse(record).success,
  read: (record) => {
    const parsed = status.safeParse(record)
    return parsed.success ? readStatus(parsed.data) : []
  },
  known: (variables) => compactionPoint(variables),
}

const readStatus = ({ session_id, model, context_window }: z.output<typeof status>): readonly WindowEvent[] => {
  const { context_window_size: tokens, current_usage, used_percentage } = context_window
  return [
    ...(model === undefined ? [] : [{ type: 'model' as const, model: model.id }]),
    ...(tokens === undefined ? [] : [{ type: 'window' as const, tokens }]),
    ...readCurrent(current_usage, used_percentage, session_id),
  ]
}

const readCurrent = (raw: unknown, usedPercent: number | undefined, session: string): readonly WindowEvent[] => {
  const parsed = counters.safeParse(raw)
  // 0 beside no counts is what it says before it knows.
  if (!parsed.success && usedPercent) return [{ type: 'percentage', usedPercent }]
  if (raw === null) return [{ type: 'unknown' }]
  if (!parsed.success || promptOf(parsed.data) === 0) return []
  const { input_tokens: tail, cache_creation_input_tokens: created, cache_read_input_tokens: read } = parsed.data
  // The line is drawn again and again, and names no request: the same input side is the same request.
  const key = [session, tail, created, read].join('/')
  return [{ type: 'request', key, promptTokens: promptOf(parsed.data), outputTokens: parsed.data.output_tokens }]
}
