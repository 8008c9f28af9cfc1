import { stat } from 'node:fs/promises'
import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { UsageCounter } from '../../../ports/agent/window-reader.ts'
import { RolloutTail } from './rollout-tail.ts'

/** A sum over the whole thread, though the SDK calls it a turn's. */
export interface CodexUsage {
  /** The cached part included. */
  readonly input_tokens: number
  readonly cached_input_tokens?: number | undefined
  readonly output_tokens: number
}

const count = z.number().int().nonnegative()

const used = z.looseObject({
  input_tokens: count,
  cached_input_tokens: count.optional().catch(undefined),
  output_tokens: count,
})

const counted = z.looseObject({
  type: z.literal('event_msg'),
  payload: z.looseObject({ type: z.literal('token_count'), info: z.looseObject({ total_token_usage: used }) }),
})

const recorded = z.looseObject({
  type: z.literal('token_usage_record'),
  payload: z.looseObject({ thread_token_usage: used }),
})

/** The sum over a thread that a record of its rollout tells, if it tells one. */
export const threadTotalsIn = (record: unknown): CodexUsage | undefined => {
  const parsed = counted.safeParse(record)
  return parsed.success
    ? parsed.data.payload.info.total_token_usage
    : recorded.safeParse(record).data?.payload.thread_token_usage
}

/** Of a thread that has asked nothing yet. */
export const NOTHING_USED: CodexUsage = { input_tokens: 0, output_tokens: 0 }

/** How much of a rollout's end is searched for the last sum. */
const SEARCHED_BYTES = 4 * 1024 * 1024

/** The usage of a thread up to now, by its rollout. Absent when its end does not say. */
export const lastThreadTotals = async (path: string): Promise<CodexUsage | undefined> => {
  const { size } = await stat(path)
  let last: CodexUsage | undefined
  for await (const record of new RolloutTail(path, Math.max(0, size - SEARCHED_BYTES)).records()) {
    last = threadTotalsIn(record) ?? last
  }
  return last ?? (size <= SEARCHED_BYTES ? NOTHING_USED : undefined)
}

/** The usage of one launch: the thread's sum, less the sum before it. */
export const totalsSince = (before: CodexUsage, now: CodexUsage): UsageTotals =>
  defined({
    inputTokens: Math.max(0, now.input_tokens - before.input_tokens),
    outputTokens: Math.max(0, now.output_tokens - before.output_tokens),
    cacheReadTokens:
      now.cached_input_tokens === undefined
        ? undefined
        : Math.max(0, now.cached_input_tokens - (before.cached_input_tokens ?? 0)),
  })

const completed = z.looseObject({ type: z.literal('turn.completed'), usage: used })

/** Counts what a program used that writes the events or the rollout of one thread. Both sum over the thread. */
export const threadUsage = (): UsageCounter => ({
  take: (record) => {
    const turn = completed.safeParse(record)
    const sum = turn.success ? turn.data.usage : threadTotalsIn(record)
    return sum && { totals: totalsSince(NOTHING_USED, sum) }
  },
})
