import { stat } from 'node:fs/promises'
import { z } from 'zod'
import type { UsageTotals } from '../../domain/usage-reading.ts'
import type { CodexUsage } from './codex-sdk.ts'
import { RolloutTail } from './rollout-tail.ts'

const count = z.number().int().nonnegative()

const sum = z.looseObject({ input_tokens: count, output_tokens: count })

const counted = z.looseObject({
  type: z.literal('event_msg'),
  payload: z.looseObject({ type: z.literal('token_count'), info: z.looseObject({ total_token_usage: sum }) }),
})

const recorded = z.looseObject({
  type: z.literal('token_usage_record'),
  payload: z.looseObject({ thread_token_usage: sum }),
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

/** What a thread has used up to now, by its rollout. Absent when its end does not say. */
export const lastThreadTotals = async (path: string): Promise<CodexUsage | undefined> => {
  const { size } = await stat(path)
  let last: CodexUsage | undefined
  for await (const record of new RolloutTail(path, Math.max(0, size - SEARCHED_BYTES)).records()) {
    last = threadTotalsIn(record) ?? last
  }
  return last ?? (size <= SEARCHED_BYTES ? NOTHING_USED : undefined)
}

/** What one launch used: the thread's sum, less what it was before. */
export const totalsSince = (before: CodexUsage, now: CodexUsage): UsageTotals => ({
  inputTokens: Math.max(0, now.input_tokens - before.input_tokens),
  outputTokens: Math.max(0, now.output_tokens - before.output_tokens),
})
