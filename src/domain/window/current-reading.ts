import { defined } from '../kernel/defined.ts'
import { tokensIn } from './pending-text.ts'
import { UNKNOWN_USAGE, type UsageProvenance, type UsageReading } from './usage-reading.ts'
import type { WindowEvent } from './window-event.ts'

/** The reading of the current request, so far. */
export interface CurrentReading {
  /** Absent for an estimate: no request says so. */
  readonly key?: string
  readonly promptTokens: number
  readonly outputTokens: number
  /** Of the answer's text, as far as it was seen. */
  readonly answerCharacters?: number
  /** All that is known, where nothing is counted. */
  readonly usedPercent?: number
  readonly model?: string
  /** Nothing that comes later about this request knows better. */
  readonly isFinal?: boolean
  /** Reported once it was complete. */
  readonly isLate?: boolean
}

/** The tokens that the answer added. A count taken while it streamed may be smaller than the length of its text. */
const outputOf = ({ outputTokens, answerCharacters = 0, isFinal, isLate }: CurrentReading): number =>
  isFinal || isLate ? outputTokens : Math.max(outputTokens, tokensIn(answerCharacters))

/** The current reading with the final counters of its answer; nothing while there is no request. */
export const withCount = (
  current: CurrentReading | undefined,
  { promptTokens, outputTokens }: Extract<WindowEvent, { type: 'answered' }>,
): CurrentReading | undefined =>
  current?.key === undefined
    ? undefined
    : {
        ...current,
        promptTokens: promptTokens ?? current.promptTokens,
        outputTokens: Math.max(outputTokens, current.outputTokens),
        isFinal: true,
      }

/** The current reading with more of its answer; nothing when it is the answer to another request. */
export const withText = (
  current: CurrentReading | undefined,
  { request, characters }: Extract<WindowEvent, { type: 'answer_text' }>,
): CurrentReading | undefined =>
  current?.key !== request ? undefined : { ...current, answerCharacters: (current.answerCharacters ?? 0) + characters }

/** A current reading, with the tokens of the texts that came after it. */
export const usageOf = (
  current: CurrentReading | undefined,
  pendingTokens: number,
  runtime: string | undefined,
): UsageReading => {
  if (current === undefined) return UNKNOWN_USAGE
  const provenance = provenanceOf(current, runtime)
  const { usedPercent, promptTokens } = current
  if (usedPercent !== undefined) return defined({ state: 'percentage' as const, usedPercent, provenance })
  return defined({
    state: 'metered' as const,
    promptTokens,
    outputTokens: outputOf(current),
    pendingTokens: pendingTokens > 0 ? pendingTokens : undefined,
    provenance,
  })
}

/** The origin of a reading. A streamed answer may still grow; once it is complete, its figures are exact. */
const provenanceOf = (
  { key, isFinal, isLate, usedPercent }: CurrentReading,
  runtime: string | undefined,
): UsageProvenance | undefined => {
  if (runtime === undefined) return undefined
  // A percentage is rounded, and leaves out what the last answer added.
  if (usedPercent !== undefined) return { runtime, source: 'percentage', semantics: 'lower_bound' }
  if (key === undefined) return { runtime, source: 'estimate', semantics: 'estimate' }
  return { runtime, source: 'request', semantics: isFinal || isLate ? 'exact' : 'lower_bound' }
}
