import { isRecord } from '../../domain/kernel/record.ts'
import { mergeWindow, type WindowParts } from '../../domain/window/context-pressure.ts'
import { ReportedWindow } from '../../domain/window/reported-window.ts'
import type { UsageReading } from '../../domain/window/usage-reading.ts'
import type { WindowEvent } from '../../domain/window/window-event.ts'
import { levelIn, type WindowLevel } from '../../domain/window/window-level.ts'
import type { TerminalWindow } from '../../ports/agent/vendor.ts'
import { countOf, type HookCard } from './hook-card.ts'
import type { RawInput } from './read-input.ts'

/** The part of a status line's input that is about the window. */
export interface ReadStatus {
  readonly reading: UsageReading
  /** The size that was reported. Absent where it is smaller than what is in the window. */
  readonly windowTokens?: number
}

/**
 * Reads `current_usage`, or the percentage where nothing is counted. The totals beside them were sums over the session
 * once, and are never used.
 */
export const readStatus = ({ context_window: reported }: RawInput): ReadStatus => {
  if (!isRecord(reported)) return { reading: { state: 'unknown' } }
  const size = countOf(reported.context_window_size) ?? 0
  const reading = readingOf(reported)
  const used = reading.state === 'metered' ? reading.promptTokens + reading.outputTokens : 0
  return size > 0 && size >= used ? { reading, windowTokens: size } : { reading }
}

/** How the agent says where it compacts, and the variables that this process has of it. */
interface AgentWindow {
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly window: TerminalWindow | undefined
}

/** The level as everybody else shows it: the share of what can be used, which the card and the variables tell. */
export const levelFor = (
  { reading, windowTokens }: ReadStatus,
  card: Pick<HookCard, 'window' | 'variables'> | undefined,
  { variables, window }: AgentWindow,
): WindowLevel => {
  const variableParts = window?.known({ ...variables, ...card?.variables }) ?? []
  return levelIn(reading, mergeWindow(card?.window ?? {}, partsOf(windowTokens, variableParts)))
}

const partsOf = (windowTokens: number | undefined, known: readonly WindowEvent[]): WindowParts => {
  const reported = new ReportedWindow()
  for (const event of known) {
    if (event.type === 'window') reported.take(event, undefined)
    else if (event.type === 'auto_compact_at' || event.type === 'auto_compact_reserve') reported.note(event)
  }
  if (windowTokens !== undefined) reported.take({ type: 'window', tokens: windowTokens }, undefined)
  return reported.parts(undefined, undefined)
}

const readingOf = ({ current_usage, used_percentage }: Readonly<Record<string, unknown>>): UsageReading => {
  const counted = countedIn(current_usage)
  if (counted !== undefined) return { state: 'metered', ...counted }
  // 0 beside no counts is what it says before it knows.
  const usedPercent = countOf(used_percentage) ?? 0
  return usedPercent > 0 ? { state: 'percentage', usedPercent } : { state: 'unknown' }
}

/** The prompt of the latest request and its answer: what the next request sends again. */
const countedIn = (usage: unknown): { readonly promptTokens: number; readonly outputTokens: number } | undefined => {
  if (!isRecord(usage)) return undefined
  const { input_tokens: tail, cache_creation_input_tokens: created, cache_read_input_tokens: read } = usage
  const prompt = [tail, created ?? 0, read ?? 0].map(countOf)
  const promptTokens = prompt.reduce<number>((total, part) => total + (part ?? Number.NaN), 0)
  return promptTokens > 0 ? { promptTokens, outputTokens: countOf(usage.output_tokens) ?? 0 } : undefined
}
