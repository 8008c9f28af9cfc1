import { type HookInput, isRecord } from './read-input.ts'
import { countOf } from './session-card.ts'

/** How full a window is, as a status line's input says it. */
export type WindowLevel =
  | { readonly state: 'unknown' }
  /** Counted. The window is absent where the size that was reported is smaller than what is in it. */
  | { readonly state: 'counted'; readonly usedTokens: number; readonly windowTokens: number | undefined }
  | { readonly state: 'share'; readonly ratio: number }

const UNKNOWN: WindowLevel = { state: 'unknown' }

/**
 * Reads the level from `current_usage`, or from the percentage where nothing is counted. The totals beside them were sums
 * over the session once, and are never used.
 */
export const windowLevel = ({ context_window: reported }: HookInput): WindowLevel => {
  if (!isRecord(reported)) return UNKNOWN
  const usedTokens = usedBy(reported.current_usage)
  if (usedTokens !== undefined) {
    const size = countOf(reported.context_window_size) ?? 0
    return { state: 'counted', usedTokens, windowTokens: size < usedTokens ? undefined : size }
  }
  // 0 beside no counts is what it says before it knows.
  const percent = countOf(reported.used_percentage) ?? 0
  return percent > 0 ? { state: 'share', ratio: percent / 100 } : UNKNOWN
}

/** The prompt of the latest request and its answer: what the next request sends again. */
const usedBy = (usage: unknown): number | undefined => {
  if (!isRecord(usage)) return undefined
  const { input_tokens: tail, cache_creation_input_tokens: created, cache_read_input_tokens: read } = usage
  const prompt = [tail, created ?? 0, read ?? 0].map(countOf)
  const sum = prompt.reduce<number>((total, part) => total + (part ?? Number.NaN), 0)
  return sum > 0 ? sum + (countOf(usage.output_tokens) ?? 0) : undefined
}
