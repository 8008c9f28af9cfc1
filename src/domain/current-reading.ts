import type { UsageProvenance } from './usage-reading.ts'

/** What the current request said, so far. */
export interface CurrentReading {
  /** Absent for an estimate: no request says so. */
  readonly key?: string
  readonly promptTokens: number
  readonly outputTokens: number
  readonly model?: string
  /** Nothing that comes later about this request knows better. */
  readonly isFinal?: boolean
  /** Reported once it was complete. */
  readonly isLate?: boolean
}

/** What is known of a reading's origin. A streamed answer may still grow; once it is complete, its figures are exact. */
export const provenanceOf = (
  { key, isFinal, isLate }: CurrentReading,
  runtime: string | undefined,
): UsageProvenance | undefined => {
  if (runtime === undefined) return undefined
  if (key === undefined) return { runtime, source: 'estimate', semantics: 'estimate' }
  return { runtime, source: 'request', semantics: isFinal || isLate ? 'exact' : 'lower_bound' }
}
