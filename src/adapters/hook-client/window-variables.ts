import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TerminalHook } from '../../ports/terminal/wire.ts'
import { windowVariables } from '../claude/compaction-point.ts'
import { isRecord, type RawInput } from './read-input.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The events that the service is told the variables with: at the start, and before each answer, for they may change. */
const TELLING: readonly TerminalHook[] = ['session-start', 'user-prompt-submit']

/** A folder may be anybody's, and hold a pipe or a very long file in the place of settings. */
const MOST_BYTES = 1024 * 1024

/**
 * The variables that say where Claude Code compacts by itself, where there are any. A settings file that switches that off
 * counts as the variable that does.
 */
export const variablesFor = (
  event: TerminalHook,
  input: RawInput,
  environment: Variables,
): Readonly<Record<string, string>> | undefined => {
  if (!TELLING.includes(event)) return undefined
  const variables = {
    ...windowVariables(environment),
    ...(isSwitchedOff(input, environment) && { DISABLE_AUTO_COMPACT: '1' }),
  }
  return Object.keys(variables).length === 0 ? undefined : variables
}

/** Whether the last settings file that says something says no. */
const isSwitchedOff = ({ cwd }: RawInput, { CLAUDE_CONFIG_DIR, HOME }: Variables): boolean => {
  const own = CLAUDE_CONFIG_DIR || (HOME && join(HOME, '.claude'))
  const folders = [
    ...(own ? [join(own, 'settings.json')] : []),
    ...(typeof cwd === 'string'
      ? [join(cwd, '.claude', 'settings.json'), join(cwd, '.claude', 'settings.local.json')]
      : []),
  ]
  return folders.map(settingIn).findLast((setting) => setting !== undefined) === false
}

const settingIn = (path: string): boolean | undefined => {
  try {
    const about = statSync(path)
    if (!about.isFile() || about.size > MOST_BYTES) return undefined
    const settings: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const setting = isRecord(settings) ? settings.autoCompactEnabled : undefined
    return typeof setting === 'boolean' ? setting : undefined
  } catch {
    return undefined // not there, or no use to Claude Code either
  }
}
