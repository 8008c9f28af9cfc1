import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { WindowEvent } from '../../../domain/window/window-event.ts'

/** Events about the size of a window. */
type SizeEvent = Extract<WindowEvent, { type: 'window' | 'auto_compact_at' | 'auto_compact_reserve' }>

/** Variables of a process. */
type Variables = Readonly<Record<string, string | undefined>>

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

/** Either of them switches it off. */
const OFF = ['DISABLE_AUTO_COMPACT', 'DISABLE_COMPACT']

/** Every variable that says something about the window or the compaction point. */
const NAMES: readonly string[] = [
  ...ARE_SMALL,
  ...OFF,
  'CLAUDE_CODE_MAX_CONTEXT_TOKENS',
  'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
  'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE',
]

/** The variables of a process that say something about its window, and no others. */
const windowVariables = (env: Variables): Readonly<Record<string, string>> =>
  Object.fromEntries(NAMES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))

/** A folder may be anybody's, and hold a pipe or a very long file in the place of settings. */
const MOST_BYTES = 1024 * 1024

/**
 * The variables that say where Claude Code compacts by itself in a folder. A settings file that switches that off counts as
 * the variable that does.
 */
export const windowSettings = (
  environment: Variables,
  folder: string | undefined,
): Readonly<Record<string, string>> => ({
  ...windowVariables(environment),
  ...(isSwitchedOff(folder, environment) && { DISABLE_AUTO_COMPACT: '1' }),
})

/** Whether the last settings file that says something says no. */
const isSwitchedOff = (folder: string | undefined, { CLAUDE_CONFIG_DIR, HOME }: Variables): boolean => {
  const own = CLAUDE_CONFIG_DIR || (HOME && join(HOME, '.claude'))
  const files = [
    ...(own ? [join(own, 'settings.json')] : []),
    ...(folder === undefined
      ? []
      : ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name))),
  ]
  return files.map(settingIn).findLast((setting) => setting !== undefined) === false
}

const settingIn = (path: string): boolean | undefined => {
  try {
    const about = statSync(path)
    if (!about.isFile() || about.size > MOST_BYTES) return undefined
    const settings = JSON.parse(readFileSync(path, 'utf8')) as { readonly autoCompactEnabled?: unknown } | null
    const setting = settings?.autoCompactEnabled
    return typeof setting === 'boolean' ? setting : undefined
  } catch {
    return undefined // not there, or no use to Claude Code either
  }
}

/**
 * The window and the compaction point, read from the variables of the command. It reports neither itself
 * before its result. In doubt the window is the smaller one, and it compacts.
 */
export const compactionPoint = (
  env: Variables,
  { isOff = false }: { readonly isOff?: boolean } = {},
): readonly SizeEvent[] => {
  const sizes = [
    ARE_SMALL.some((name) => isOn(env[name])) ? SMALL_WINDOW : 0,
    sizeIn(env.CLAUDE_CODE_MAX_CONTEXT_TOKENS),
  ]
  const window = smallest(sizes)
  const events: readonly SizeEvent[] = window === undefined ? [] : [{ type: 'window', tokens: window }]
  if (isOff || OFF.some((name) => isOn(env[name]))) return events
  const percent = sizeIn(env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE)
  const share = percent > 0 && percent < 100 ? percent / 100 : 1
  const point = (sizeIn(env.CLAUDE_CODE_AUTO_COMPACT_WINDOW) - AUTO_COMPACT_RESERVE) * share
  return [
    ...events,
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
  const given = sizes.filter((size) => size > 0)
  return given.length === 0 ? undefined : Math.min(...given)
}
