import { isOwnPlugin, launchedBy, ownHookIn } from '../install/agent-settings.ts'
import { isRecord, jsonIn, readSmallFile } from './small-file.ts'

/** A hook of ours in the settings of a runtime: the event it is for, and the program that it starts. */
export interface InstalledHook {
  readonly event: string
  readonly program: string
  /** The Node that is to run the program, where the command looks for both by itself. */
  readonly node?: string
  /** The file that names it. */
  readonly file: string
}

/** The hooks of ours in one file of settings, or what is wrong with it. */
export interface HookSettings {
  readonly file: string
  readonly hooks: readonly InstalledHook[]
  readonly problem?: string
  /** The file switches all hooks off. */
  readonly isOff?: true
  /** The file switches our plugin on or off. */
  readonly hasPlugin?: boolean
}

/** Reads one file of settings, which may hold anything. A file that is missing is nothing. */
export const hookSettingsIn = (file: string): HookSettings | undefined => {
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
export const pluginFile = (settings: readonly HookSettings[]): string | undefined => {
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
