/** Where a reading comes from, and what its figures mean. */
export interface UsageProvenance {
  /** Which runtime, such as `claude-code`. */
  readonly runtime: string
  /** Which of its records, such as `assistant.message.usage`. */
  readonly source: string
  /** `exact`, or `lower_bound` while an answer still streams, or the runtime's own `estimate`. */
  readonly semantics: ReadingSemantics
}

/** The possible meanings of a reading's figures. */
export const READING_SEMANTICS = ['exact', 'lower_bound', 'estimate'] as const

/** The meaning of a reading's figures. */
export type ReadingSemantics = (typeof READING_SEMANTICS)[number]

/** The reading of one request. *Unknown* is a separate state, never a guess of 0. */
export type UsageReading =
  | { readonly state: 'unknown' }
  | {
      readonly state: 'metered'
      /** Everything the request sent, cached parts included. */
      readonly promptTokens: number
      /** Tokens of the answer; the next request sends them again. */
      readonly outputTokens: number
      /** An estimate of what came after the request and no usage counts yet. */
      readonly pendingTokens?: number
      readonly provenance?: UsageProvenance
    }
  | {
      /** A runtime that counts nothing may still say how full its window is. */
      readonly state: 'percentage'
      /** Of the model's whole window, from 0 on; 61.5 is 61.5 %. */
      readonly usedPercent: number
      readonly provenance?: UsageProvenance
    }

/** Nothing has been read yet. */
export const UNKNOWN_USAGE: UsageReading = { state: 'unknown' }

/**
 * Tokens summed over several requests: the cost of a run, never how full its window is.
 *
 * It has no `state`, so it cannot be passed where a reading belongs.
 */
export interface UsageTotals {
  /** Everything that was sent, cached parts included. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly requests?: number
  /** Of the input, what was read from a cache, and what was written to one; where the runtime says. */
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly costUsd?: number
  /** How much of the cost is estimated from tokens and list prices; absent when the runtime has said all of it. */
  readonly estimatedUsd?: number
}
