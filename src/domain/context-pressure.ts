import { defined } from './defined.ts'
import type { UsageReading } from './usage-reading.ts'

/** Who says how large a window is, the most trusted first. */
export const WINDOW_SOURCES = ['runtime', 'configured', 'suffix', 'catalogue', 'observed'] as const

/** Who says how large a window is. */
export type WindowSource = (typeof WINDOW_SOURCES)[number]

/** How large a window is, and who says so. */
export interface WindowSize {
  readonly tokens: number
  readonly source: WindowSource
}

/** What is known of a window. Nothing here is assumed: what nobody says is absent. */
export interface WindowParts {
  /** What the model takes at most. */
  readonly hardLimit?: WindowSize
  /** What the user allows. */
  readonly configuredLimit?: number
  /** Where the runtime compacts by itself. */
  readonly autoCompactAt?: number
}

/** How full a window is, or that nobody knows. Unknown never triggers anything. */
export type Pressure =
  | { readonly state: 'unknown'; readonly why: 'no_reading' | 'no_window' }
  | {
      readonly state: 'known'
      /** Used over usable; may pass 1 when the runtime itself reported the window. */
      readonly ratio: number
      readonly usedTokens: number
      readonly window: WindowSize
    }

/** What the next request will send: what the last one sent, what it was answered, and what came since. */
export const usedTokens = (reading: UsageReading): number | undefined =>
  reading.state === 'unknown' ? undefined : reading.promptTokens + reading.outputTokens + (reading.pendingTokens ?? 0)

/** The part of a window that can be used: the smallest of what is known. */
export const usableWindow = ({ hardLimit, configuredLimit, autoCompactAt }: WindowParts): WindowSize | undefined => {
  const known: readonly (WindowSize | undefined)[] = [
    configuredLimit === undefined ? undefined : { tokens: configuredLimit, source: 'configured' },
    autoCompactAt === undefined ? undefined : { tokens: autoCompactAt, source: 'runtime' },
    hardLimit,
  ]
  return known
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

/** How full a window is. */
export const pressureOf = (reading: UsageReading, parts: WindowParts): Pressure => {
  const used = usedTokens(reading)
  if (used === undefined) return { state: 'unknown', why: 'no_reading' }
  const window = usableWindow(raiseBelieved(parts, used))
  if (window === undefined) return { state: 'unknown', why: 'no_window' }
  return { state: 'known', ratio: used / window.tokens, usedTokens: used, window }
}

/** What a newer report adds to what is known of a window; a part it does not name stays. */
export const mergeWindow = (known: WindowParts, reported: WindowParts): WindowParts => {
  const weaker =
    known.hardLimit !== undefined &&
    reported.hardLimit !== undefined &&
    rank(reported.hardLimit) > rank(known.hardLimit)
  return { ...known, ...reported, ...(weaker && defined({ hardLimit: known.hardLimit })) }
}

const rank = ({ source }: WindowSize): number => WINDOW_SOURCES.indexOf(source)
