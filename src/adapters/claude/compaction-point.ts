import type { WindowEvent } from '../../domain/window/window-event.ts'
import type { Environment } from './session-file.ts'

/** How far before the end of its window the command compacts by itself: seen in all its versions since 2.1.25. */
const AUTO_COMPACT_RESERVE = 33_000

/** The window of every model where the million is switched off, and of some where a cloud serves them. */
const SMALL_WINDOW = 200_000
const ARE_SMALL = [
  'CLAUDE_CODE_DISABLE_1M_CONTEXT',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
]

/**
 * The window and the compaction point, read from the variables of the command. It reports neither itself
 * before its result. In doubt the window is the smaller one, and it compacts.
 */
export const compactionPoint = (env: Environment, { isOff }: { readonly isOff: boolean }): readonly WindowEvent[] => {
  const sizes = [
    ARE_SMALL.some((name) => isOn(env[name])) ? SMALL_WINDOW : 0,
    sizeIn(env.CLAUDE_CODE_MAX_CONTEXT_TOKENS),
  ]
  const window = smallest(sizes)
  const known: readonly WindowEvent[] = window === undefined ? [] : [{ type: 'window', tokens: window }]
  if (isOff || isOn(env.DISABLE_AUTO_COMPACT)) return known
  const percent = sizeIn(env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE)
  const share = percent > 0 && percent < 100 ? percent / 100 : 1
  const point = (sizeIn(env.CLAUDE_CODE_AUTO_COMPACT_WINDOW) - AUTO_COMPACT_RESERVE) * share
  return [
    ...known,
    { type: 'auto_compact_reserve', tokens: AUTO_COMPACT_RESERVE, ...(share < 1 && { share }) },
    ...(point > 0 ? [{ type: 'auto_compact_at' as const, tokens: Math.floor(point) }] : []),
  ]
}

const isOn = (value: string | undefined): boolean => !['', '0', 'false'].includes((value ?? '').trim().toLowerCase())

const sizeIn = (value: string | undefined): number => {
  const size = Number(value ?? '')
  return Number.isFinite(size) && size > 0 ? size : 0
}

const smallest = (sizes: readonly number[]): number | undefined => {
  const known = sizes.filter((size) => size > 0)
  return known.length === 0 ? undefined : Math.min(...known)
}
