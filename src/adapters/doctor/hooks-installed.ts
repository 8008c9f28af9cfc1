import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Finding } from '../../ports/health-check.ts'
import { homeOf } from '../../service-folder.ts'
import { CLAUDE_EVENTS, type HookSettings, hookSettingsIn, type InstalledHook } from './hook-settings.ts'

/** Where settings are looked for. */
export interface HookPlace {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
}

/** The files in which Claude Code looks for hooks: the person's, the project's, and the person's own of the project. */
const claudeFiles = ({ environment, workingFolder }: HookPlace): readonly string[] => [
  join(environment.CLAUDE_CONFIG_DIR || join(homeOf(environment), '.claude'), 'settings.json'),
  join(workingFolder, '.claude', 'settings.json'),
  join(workingFolder, '.claude', 'settings.local.json'),
]

/** The files in which Codex looks for them. */
const codexFiles = ({ environment, workingFolder }: HookPlace): readonly string[] => {
  const home = environment.CODEX_HOME || join(homeOf(environment), '.codex')
  return [join(home, 'hooks.json'), join(home, 'config.toml'), join(workingFolder, '.codex', 'hooks.json')]
}

/** Whether Claude Code calls the hooks. */
export const claudeHooks = async (place: HookPlace): Promise<readonly Finding[]> =>
  findingsFor(read(claudeFiles(place)), Object.values(CLAUDE_EVENTS), place)

/** Whether Codex calls them. It has no status line. */
export const codexHooks = async (place: HookPlace): Promise<readonly Finding[]> =>
  findingsFor(read(codexFiles(place)), [], place)

/** Whether any runtime is told to call the hooks. */
export const hasHooks = (place: HookPlace): boolean =>
  read([...claudeFiles(place), ...codexFiles(place)]).some(({ hooks }) => hooks.length > 0)

const read = (files: readonly string[]): readonly HookSettings[] =>
  // The working folder may be the home folder: then two of them are one.
  [...new Set(files)].flatMap((file) => hookSettingsIn(file) ?? [])

const findingsFor = (
  settings: readonly HookSettings[],
  wanted: readonly string[],
  place: HookPlace,
): readonly Finding[] => {
  const broken = settings.filter(({ problem }) => problem !== undefined)
  const hooks = settings.flatMap((one) => one.hooks)
  return [
    ...broken.map(
      ({ file, problem }): Finding => ({
        result: 'warning',
        text: `${file} cannot be read: ${problem}`,
        repair: 'Mend or remove that file: the runtime cannot read it either.',
      }),
    ),
    ...(hooks.length === 0 ? [NONE] : installed(settings, hooks, wanted, place)),
  ]
}

const NONE: Finding = { result: 'ok', text: 'none are installed; only sessions that `baton` itself runs are watched' }

const installed = (
  settings: readonly HookSettings[],
  hooks: readonly InstalledHook[],
  wanted: readonly string[],
  { environment }: HookPlace,
): readonly Finding[] => {
  const events = hooks.map(({ event }) => event)
  const files = [...new Set(hooks.map(({ file }) => file))]
  const missing = wanted.filter((event) => !events.includes(event))
  const twice = [...new Set(events.filter((event, at) => events.indexOf(event) !== at))]
  const off = settings.filter(({ isOff }) => isOff === true)
  const lost = [...new Set(hooks.map(({ program }) => program))].filter((program) => !isFound(program, environment))
  const problems: readonly (Finding | false)[] = [
    off.length > 0 && {
      result: 'problem',
      text: `${off.map(({ file }) => file).join(', ')} switches all hooks off`,
      repair: 'Remove "disableAllHooks" there.',
    },
    lost.length > 0 && {
      result: 'problem',
      text: `the program of the hooks is not there: ${lost.join(', ')}`,
      repair: 'Install batonpass where the settings look for it, or name its whole path there.',
    },
    missing.length > 0 && {
      result: 'warning',
      text: `${files.join(', ')} has no hook for ${missing.join(', ')}`,
      repair: `Add them: ${missing.map((event) => `"baton hook ${event}"`).join(', ')}.`,
    },
    twice.length > 0 && {
      result: 'warning',
      text: `${twice.join(', ')} is called by more than one entry (${files.join(', ')})`,
      repair: 'Keep the entries of one file.',
    },
  ]
  const found = problems.filter((problem) => problem !== false)
  return found.length > 0 ? found : [{ result: 'ok', text: `installed in ${files.join(', ')}` }]
}

const isFound = (program: string, { PATH = '' }: HookPlace['environment']): boolean => {
  if (program.startsWith('$') || program.startsWith('~')) return true // the shell knows
  if (program.includes('/') && !isAbsolute(program)) return true // from wherever the session works
  const places = isAbsolute(program) ? [program] : PATH.split(delimiter).map((folder) => join(folder, program))
  return places.some(isExecutable)
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
