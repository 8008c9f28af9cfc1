import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isRecord } from '../../domain/kernel/record.ts'
import type { SettingsPlace, TerminalAgent } from '../../ports/agent/vendor.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { isOwnPlugin, launchedBy, ownHookIn, STATUS_LINE } from '../install/own-hook.ts'
import { jsonIn, readSmallFile } from './small-file.ts'

/** An agent, as far as its hooks are looked for. */
type HookedAgent = Pick<TerminalAgent, 'name' | 'hooks' | 'noStatusLine' | 'settings'>

/** The hooks that should be there, and the commands that put them there and take them out. */
interface Wanted {
  readonly events: readonly string[]
  readonly command: string
  readonly removal: string
  /** The agent's name as people know it. */
  readonly title: string
}

const wantedOf = async ({ name, hooks, noStatusLine, settings }: HookedAgent): Promise<Wanted> => ({
  events: [...(noStatusLine === undefined ? [STATUS_LINE] : []), ...Object.values(hooks)],
  command: `baton ${name} install`,
  removal: `baton ${name} uninstall`,
  title: (await settings?.())?.title ?? name,
})

const filesOf = async ({ settings }: HookedAgent, place: SettingsPlace): Promise<readonly string[]> =>
  (await settings?.())?.hookFiles(place) ?? []

/** Whether an agent calls the hooks. */
export const hooksInstalled = async (place: SettingsPlace, agent: HookedAgent): Promise<readonly Finding[]> =>
  findingsFor(read(await filesOf(agent, place)), await wantedOf(agent), place)

/** Whether any of the agents is set to call the hooks. */
export const hasHooks = async (place: SettingsPlace, agents: readonly HookedAgent[]): Promise<boolean> => {
  for (const agent of agents) {
    const settings = read(await filesOf(agent, place))
    if (settings.some(({ hooks }) => hooks.length > 0) || pluginFile(settings) !== undefined) return true
  }
  return false
}

/** The file that switches our plugin on in an agent, for sessions in this folder. */
export const enabledPlugin = async (place: SettingsPlace, agent: HookedAgent): Promise<string | undefined> =>
  pluginFile(read(await filesOf(agent, place)))

const read = (files: readonly string[]): readonly HookSettings[] =>
  // The working folder may be the home folder: then two of them are one.
  [...new Set(files)].flatMap((file) => hookSettingsIn(file) ?? [])

const findingsFor = (settings: readonly HookSettings[], wanted: Wanted, place: SettingsPlace): readonly Finding[] => {
  const broken = settings.filter(({ problem }) => problem !== undefined)
  const hooks = settings.flatMap((one) => one.hooks)
  const plugin = [pluginFile(settings)].filter((file) => file !== undefined)
  return [
    ...broken.map(
      ({ file, problem }): Finding => ({
        result: 'warning',
        text: `${file} cannot be read: ${problem}`,
        repair: 'Mend or remove that file: the runtime cannot read it either.',
      }),
    ),
    ...plugin.map((file): Finding => pluginFinding(file, hooks, wanted, place)),
    ...(hooks.length === 0
      ? plugin.length === 0
        ? [none(wanted)]
        : []
      : installed(settings, hooks, plugin.length === 0 ? wanted : { ...wanted, events: [] }, place)),
  ]
}

/** The plugin brings every hook but the status line. It knows our program by its name alone. */
const pluginFinding = (
  file: string,
  hooks: readonly InstalledHook[],
  { removal, title }: Wanted,
  { environment }: SettingsPlace,
): Finding => {
  if (hooks.some(({ event }) => event !== STATUS_LINE))
    return {
      result: 'warning',
      text: `the plugin, which ${file} switches on, and the settings both name the hooks`,
      repair: `Run "${removal}", or remove the plugin.`,
    }
  if (!isRunnable({ event: '', program: '', node: 'node', file }, environment))
    return {
      result: 'problem',
      text: `the plugin is switched on in ${file}, and does nothing: baton or node is not on the PATH`,
      repair: `Run "npm install -g batonpass", and start ${title} where both are on the PATH.`,
    }
  return { result: 'ok', text: `the plugin is switched on in ${file}` }
}

const none = ({ command }: Wanted): Finding => ({
  result: 'ok',
  text: `none are installed; only sessions that \`baton\` itself runs are watched ("${command}" installs them)`,
})

const installed = (
  settings: readonly HookSettings[],
  hooks: readonly InstalledHook[],
  wanted: Wanted,
  { environment }: SettingsPlace,
): readonly Finding[] => {
  const events = hooks.map(({ event }) => event)
  const files = [...new Set(hooks.map(({ file }) => file))]
  const missing = wanted.events.filter((event) => !events.includes(event))
  const twice = [...new Set(events.filter((event, at) => events.indexOf(event) !== at))]
  const off = settings.filter(({ isOff }) => isOff === true)
  const lost = [...new Set(hooks.filter((hook) => !isRunnable(hook, environment)).map(lostName))]
  const problems: readonly (Finding | false)[] = [
    off.length > 0 && {
      result: 'problem',
      text: `${off.map(({ file }) => file).join(', ')} switches all hooks off`,
      repair: 'Remove "disableAllHooks" there.',
    },
    lost.length > 0 && {
      result: 'problem',
      text: `the program of the hooks is not there: ${lost.join(', ')}`,
      repair: `Install batonpass where the settings look for it, or run "${wanted.command}" with a baton that is there.`,
    },
    missing.length > 0 && {
      result: 'warning',
      text: `${files.join(', ')} has no hook for ${missing.join(', ')}`,
      repair: `Run "${wanted.command}", which adds what is missing.`,
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

/** Whether a command finds its program. One that looks for it by itself takes `baton` where its file has gone. */
const isRunnable = ({ program, node }: InstalledHook, environment: SettingsPlace['environment']): boolean => {
  if (node === undefined) return isFound(program, environment)
  const hasNode = isFound('node', environment)
  return (existsSync(program) && (hasNode || isFound(node, environment))) || (hasNode && isFound('baton', environment))
}

/** In settings that are shared the file has no name. */
const lostName = ({ program }: InstalledHook): string => (program === '' ? 'baton' : program)

const isFound = (program: string, { PATH = '' }: SettingsPlace['environment']): boolean => {
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

/** A hook of ours in the settings of a runtime: the event it is for, and the program that it starts. */
interface InstalledHook {
  readonly event: string
  readonly program: string
  /** The Node that is to run the program, where the command looks for both by itself. */
  readonly node?: string
  /** The file that names it. */
  readonly file: string
}

/** The hooks of ours in one file of settings, or what is wrong with it. */
interface HookSettings {
  readonly file: string
  readonly hooks: readonly InstalledHook[]
  readonly problem?: string
  /** The file switches all hooks off. */
  readonly isOff?: true
  /** The file switches our plugin on or off. */
  readonly hasPlugin?: boolean
}

/** Reads one file of settings, which may hold anything. A file that is missing is nothing. */
const hookSettingsIn = (file: string): HookSettings | undefined => {
  const found = readSmallFile(file)
  if (found.state === 'missing') return undefined
  if (found.state === 'unreadable') return { file, hooks: [], problem: found.why }
  if (file.endsWith('.toml')) return { file, hooks: inText(found.text, file) }
  const json = jsonIn(found.text)
  if (!isRecord(json)) return { file, hooks: [], problem: 'it is no JSON object' }
  const hooks = commandsIn(json).flatMap((command) => hookIn(command, file))
  return {
    file,
    hooks,
    ...(json.disableAllHooks === true && { isOff: true }),
    ...pluginIn(json.enabledPlugins),
  }
}

/** A list names the versions of a plugin that are taken. */
const pluginIn = (plugins: unknown): Pick<HookSettings, 'hasPlugin'> => {
  const named = isRecord(plugins) ? Object.entries(plugins).filter(([name]) => isOwnPlugin(name)) : []
  return named.length === 0 ? {} : { hasPlugin: named.some(([, isOn]) => isOn === true || Array.isArray(isOn)) }
}

/** The file that switches the plugin on, of files in the order in which each wins over those before it. */
const pluginFile = (settings: readonly HookSettings[]): string | undefined => {
  const nearest = settings.findLast(({ hasPlugin }) => hasPlugin !== undefined)
  return nearest?.hasPlugin === true ? nearest.file : undefined
}

/** Every command that settings name, wherever it stands: the shapes differ between versions. */
const commandsIn = ({ hooks, statusLine }: Readonly<Record<string, unknown>>): readonly string[] => [
  ...commandsBelow(hooks, 0),
  ...commandsBelow(statusLine, 0),
]

const commandsBelow = (value: unknown, depth: number): readonly string[] => {
  if (depth > 8) return []
  if (Array.isArray(value)) return value.flatMap((one) => commandsBelow(one, depth + 1))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'command' && typeof inner === 'string' ? [inner] : commandsBelow(inner, depth + 1),
  )
}

/** Lines of a TOML file that are no comments. */
const inText = (text: string, file: string): readonly InstalledHook[] =>
  text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => hookIn(line.replaceAll(/["',[\]]+/g, ' '), file))

const hookIn = (command: string, file: string): readonly InstalledHook[] => {
  const own = ownHookIn(command)
  if (own === undefined) return []
  const launched = launchedBy(own.program)
  if (launched === undefined) return [{ event: own.event, program: wordsIn(command)[0] ?? '', file }]
  const [node = '', program = ''] = wordsIn(launched)
  return [{ event: own.event, node, program, file }]
}

/** The words of a command without its assignments and quotes. */
const wordsIn = (command: string): readonly string[] =>
  [...command.replace(/^\s*(?:[A-Za-z_]\w*=\S*\s+)*/, '').matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/gs)].map(
    ([word]) =>
      word.replaceAll(
        /'([^']*)'|"([^"]*)"|\\(.)/gs,
        (_, single?: string, double?: string, bare?: string) => single ?? double ?? bare ?? '',
      ),
  )
