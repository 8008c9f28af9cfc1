import { defined } from '../kernel/defined.ts'
import type { UsageReading } from './usage-reading.ts'
import type { CompactionTrigger } from './window-event.ts'

/** Who says how large a window is, the most trusted first. */
export const WINDOW_SOURCES = ['runtime', 'configured', 'suffix', 'catalogue', 'observed'] as const

/** Who says how large a window is. */
export type WindowSource = (typeof WINDOW_SOURCES)[number]

/** How large a window is, and who says so. */
export interface WindowSize {
  readonly tokens: number
  readonly source: WindowSource
}

/** The known parts of a window. Nothing is assumed: an unknown part is absent. */
export interface WindowParts {
  /** The largest window of the model. */
  readonly hardLimit?: WindowSize
  /** The limit that the user allows. */
  readonly configuredLimit?: number
  /** Where the runtime compacts by itself, as it says or as is known of it. */
  readonly autoCompactAt?: number
  /** Where it was seen to compact by itself though more was thought to be usable; the lowest in the session. */
  readonly compactedAt?: number
}

/** How full a window is, or that nobody knows. Unknown never triggers anything. */
export type Pressure =
  | { readonly state: 'unknown'; readonly why: 'no_reading' | 'no_window' }
  | {
      readonly state: 'known'
      /** Used over usable; may pass 1 when the runtime itself reported the window. */
      readonly ratio: number
      /** Absent, with the window, when all that is known is a percentage. */
      readonly usedTokens?: number
      readonly window?: WindowSize
    }

/** Tokens that the next request will send: those of the last request, its answer, and the text since then. */
export const usedTokens = (reading: UsageReading): number | undefined =>
  reading.state !== 'metered' ? undefined : reading.promptTokens + reading.outputTokens + (reading.pendingTokens ?? 0)

/** The part of a window that can be used: the smallest of what is known. */
export const usableWindow = (parts: WindowParts): WindowSize | undefined => {
  const { hardLimit, configuredLimit, autoCompactAt, compactedAt } = parts
  const sizes: readonly (WindowSize | undefined)[] = [
    configuredLimit === undefined ? undefined : { tokens: configuredLimit, source: 'configured' },
    // A point below a window that was seen to hold more was worked out from a size that was wrong.
    autoCompactAt === undefined || hardLimit?.source === 'observed'
      ? undefined
      : { tokens: autoCompactAt, source: hardLimit?.source ?? 'runtime' },
    hardLimit,
    compactedAt === undefined ? undefined : { tokens: compactedAt, source: 'observed' },
  ]
  return sizes
    .filter((size) => size !== undefined && size.tokens > 0)
    .reduce<WindowSize | undefined>(
      (least, size) => (least === undefined || (size && size.tokens < least.tokens) ? size : least),
      undefined,
    )
}

/** A window that was only believed is raised by what was seen in it; one the runtime reported stands. */
export const raiseBelieved = (parts: WindowParts, seenTokens: number): WindowParts => {
  const { hardLimit } = parts
  const isBelieved = hardLimit !== undefined && hardLimit.source !== 'runtime'
  return isBelieved && seenTokens > hardLimit.tokens
    ? { ...parts, hardLimit: { tokens: seenTokens, source: 'observed' } }
    : parts
}

/** A compaction, as far as it tells where a window ends. */
export interface CompactionReport {
  readonly trigger: CompactionTrigger
  /** The tokens that the runtime counted before it. */
  readonly preTokens?: number
}

/**
 * The window after a compaction. One that the runtime made by itself, below what was thought to be usable, shows that less
 * is: acting later than the runtime does would be acting never. Only the runtime's own count tells where that was, because
 * the last reading may be much older.
 */
export const lowerByCompaction = (parts: WindowParts, { trigger, preTokens = 0 }: CompactionReport): WindowParts => {
  const usable = usableWindow(parts)?.tokens ?? Number.POSITIVE_INFINITY
  return trigger === 'auto' && preTokens > 0 && preTokens < usable ? { ...parts, compactedAt: preTokens } : parts
}

/** How full a window is. */
export const pressureOf = (reading: UsageReading, parts: WindowParts): Pressure => {
  if (reading.state === 'percentage') return pressureOfPercentage(reading.usedPercent, parts)
  const used = usedTokens(reading)
  if (used === undefined) return { state: 'unknown', why: 'no_reading' }
  const window = usableWindow(raiseBelieved(parts, used))
  if (window === undefined) return { state: 'unknown', why: 'no_window' }
  return { state: 'known', ratio: used / window.tokens, usedTokens: used, window }
}

/** A percentage is of the whole window: what can be used of it may be less, and then more of that is used. */
const pressureOfPercentage = (usedPercent: number, parts: WindowParts): Pressure => {
  const window = usableWindow(parts)
  const whole = parts.hardLimit?.tokens
  if (window === undefined || whole === undefined) return { state: 'known', ratio: usedPercent / 100 }
  const used = (whole * usedPercent) / 100
  return { state: 'known', ratio: used / window.tokens, usedTokens: Math.round(used), window }
}

/** Everything known of a window once a newer report came. A part that the report does not name stays. */
export const mergeWindow = (before: WindowParts, reported: WindowParts): WindowParts => {
  const seen = [before.compactedAt, reported.compactedAt].filter((tokens) => tokens !== undefined)
  const hardLimit = mergeLimit(before.hardLimit, reported.hardLimit)
  // A compaction point is worked out from a size, and is worth no more than that.
  const isLessTrusted = reported.hardLimit !== undefined && hardLimit !== reported.hardLimit
  const autoCompactAt = isLessTrusted ? (before.autoCompactAt ?? reported.autoCompactAt) : reported.autoCompactAt
  return {
    ...before,
    ...reported,
    ...defined({ hardLimit, autoCompactAt }),
    ...(seen.length > 0 && { compactedAt: Math.min(...seen) }),
  }
}

/** The more trusted limit, or the newer of two equals. A belief does not undo what was already seen to be larger. */
const mergeLimit = (before: WindowSize | undefined, reported: WindowSize | undefined): WindowSize | undefined => {
  if (before === undefined || reported === undefined) return reported ?? before
  const isSeenLarger = before.source === 'observed' && reported.source !== 'runtime' && before.tokens > reported.tokens
  return isSeenLarger || rank(reported) > rank(before) ? before : reported
}

const rank = ({ source }: WindowSize): number => WINDOW_SOURCES.indexOf(source)
