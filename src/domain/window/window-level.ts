import { defined } from '../kernel/defined.ts'
import type { ContextMonitor } from './context-monitor.ts'
import { pressureOf, raiseBelieved, type WindowParts } from './context-pressure.ts'
import type { UsageReading } from './usage-reading.ts'

/** The possible ends of the usable part of a window. */
export const WINDOW_ENDS = ['compaction', 'configured', 'window'] as const

/** The end of the usable part of a window: the runtime's own compaction, a limit that was set, or the window itself. */
export type WindowEnd = (typeof WINDOW_ENDS)[number]

/** How full a window is, in figures. The tokens are absent where all that is known is a percentage. */
export interface LevelFigures {
  /** Used over usable; may pass 1. */
  readonly ratio: number
  readonly usedTokens?: number
  /** The usable part of the window. */
  readonly windowTokens?: number
  readonly end?: WindowEnd
  /** The whole window of the model, where it is known. */
  readonly wholeTokens?: number
}

/** How full a window is, or why that is not known. */
export type WindowLevel = ({ readonly state: 'known' } & LevelFigures) | { readonly state: 'unknown' | 'compacting' }

/** The level by a reading: the share of the usable window. Every figure that is shown to somebody comes from here. */
export const levelIn = (reading: UsageReading, parts: WindowParts): WindowLevel => {
  const pressure = pressureOf(reading, parts)
  if (pressure.state === 'unknown') return { state: 'unknown' }
  const { ratio, usedTokens, window } = pressure
  if (window === undefined) return { state: 'known', ratio }
  return defined({
    state: 'known' as const,
    ratio,
    usedTokens,
    ...windowEndOf(window.tokens, raiseBelieved(parts, usedTokens ?? 0)),
  })
}

/** The level of a monitored window. After a compaction it is unknown until something is read. */
export const levelOf = (monitor: ContextMonitor | undefined): WindowLevel => {
  if (monitor === undefined) return { state: 'unknown' }
  if (monitor.isCompacting) return { state: 'compacting' }
  return monitor.awaitsReading ? { state: 'unknown' } : levelIn(monitor.reading, monitor.window)
}

/** The usable part of a window, what it ends with, and the whole window. */
export const windowEndOf = (
  windowTokens: number,
  { hardLimit, configuredLimit, autoCompactAt, compactedAt }: WindowParts,
): Pick<LevelFigures, 'windowTokens' | 'end' | 'wholeTokens'> => {
  const isSeen = hardLimit?.source === 'observed'
  const isCompaction = windowTokens === compactedAt || (windowTokens === autoCompactAt && !isSeen)
  const end = isCompaction ? 'compaction' : windowTokens === configuredLimit ? 'configured' : 'window'
  return defined({ windowTokens, end, wholeTokens: hardLimit?.tokens } as const)
}

/** Below the smallest step that tokens can make, and above what fractions of two are off by. */
const ROUNDING_ERROR = 1e-6

/** A fraction in whole percent, rounded down: a milestone is never shown as reached before it is. */
export const percentOf = (ratio: number): number => Math.floor(ratio * 100 + ROUNDING_ERROR)

/** A level for machines, with the percentage that people are shown. */
export const levelJson = (level: WindowLevel) =>
  level.state === 'known' ? { ...level, percent: percentOf(level.ratio) } : level

/** A fraction that somebody has set, in percent and as exact as it was set. */
export const settingPercent = (fraction: number): number => Math.round(fraction * 1_000) / 10

/** A number of tokens in few characters: `122k`. */
export const shortTokens = (tokens: number): string => {
  if (tokens < 1_000) return String(Math.round(tokens))
  return tokens < 999_500 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1).replace('.0', '')}M`
}

/** The tokens of a level in short: `173k of 167k`. */
export const tokensOf = ({ usedTokens, windowTokens }: LevelFigures): string | undefined =>
  usedTokens === undefined || windowTokens === undefined
    ? undefined
    : `${shortTokens(usedTokens)} of ${shortTokens(windowTokens)}`

/** The tokens of a level, and what they are a share of: `173k of 167k before it compacts (200k window)`. */
export const describeTokens = (figures: LevelFigures): string | undefined => {
  const tokens = tokensOf(figures)
  const { end = 'window', wholeTokens } = figures
  if (tokens === undefined || end === 'window') return tokens
  const whole = wholeTokens === undefined ? '' : ` (${shortTokens(wholeTokens)} window)`
  return `${tokens} ${end === 'compaction' ? 'before it compacts' : 'allowed'}${whole}`
}

/** How full a window is, in words: `61 % full: 102k of 167k before it compacts (200k window)`. */
export const describeFigures = (figures: LevelFigures): string => {
  const tokens = describeTokens(figures)
  return `${percentOf(figures.ratio)} % full${tokens === undefined ? '' : `: ${tokens}`}`
}
