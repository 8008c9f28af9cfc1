import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { quoted } from '../../processes/quoted.ts'
import {
  type AgentPlace,
  CLAUDE_HOOKS,
  type ClaudeScope,
  CODEX_HOOKS,
  claudeFolderOf,
  claudeOwnFile,
  claudeSettingsOf,
  codexFolder,
} from './agent-settings.ts'
import { claudeProjectOf, realFolder } from './claude-project.ts'
import { excludeEdit, serverEdit, settingsEdit, tomlEdit, wholeFileEdit } from './edits.ts'
import type { FileEdit } from './file-edit.ts'
import { handoffCommand, isHandoffCommand } from './handoff-command.ts'
import type { WantedHooks } from './hook-entries.ts'
import type { JsonPath } from './json-document.ts'
import type { OwnProgram } from './own-program.ts'
import type { Holder } from './receipts.ts'
import type { ServerStart } from './server-entry.ts'

/** The parts of an installation. */
export const PARTS = ['hooks', 'statusLine', 'mcp', 'command'] as const

/** One of the parts. */
export type Part = (typeof PARTS)[number]

/** How git treats the files of a project: the list of ignored files of this clone, and each file by its path. */
export interface GitFiles {
  readonly excludeFile: string
  /** The folder, from the root of the repository on. */
  readonly prefix: string
  readonly files: Readonly<Record<string, { readonly state: 'tracked' | 'ignored' | 'open'; readonly pattern: string }>>
}

/** The entries that are to be in the settings of an agent. */
export interface Wanted {
  readonly program: OwnProgram
  readonly parts: readonly Part[]
  /** The folder of the service, where the person named one. */
  readonly dataDir?: string
  /** The command file that comes with the package. */
  readonly shippedCommand: string
}

/** The entries of a scope: settings that others share name no path of this machine, where that can be. */
export const wantedIn = (scope: ClaudeScope, wanted: Wanted): Wanted =>
  scope === 'project' ? { ...wanted, program: { ...wanted.program, ...wanted.program.shared } } : wanted

/** Flags that every command of ours gets. */
const flagsOf = ({ dataDir }: Wanted): string => (dataDir === undefined ? '' : ` --data-dir ${quoted(dataDir)}`)

/** The hooks of a runtime with the commands that answer them. */
const hooksOf = (names: Readonly<Record<string, string>>, wanted: Wanted, more = ''): WantedHooks => {
  const { launcher } = wanted.program
  const commands = Object.entries(names).map(([name, event]) => [
    name,
    `${launcher} hook ${event}${more}${flagsOf(wanted)}`,
  ])
  return { program: launcher, hooks: Object.fromEntries(commands) as Record<string, string> }
}

/** How the MCP server is started. */
export const serverStartOf = ({ program, dataDir }: Wanted): ServerStart => ({
  command: program.start.command,
  args: [...program.start.args, 'mcp', ...(dataDir === undefined ? [] : ['--data-dir', dataDir])],
})

/** The hooks that Claude Code is to call. */
export const claudeHooksOf = (wanted: Wanted): WantedHooks => hooksOf(CLAUDE_HOOKS, wanted)

/** The hooks that Codex is to call. */
export const codexHooksOf = (wanted: Wanted): WantedHooks => hooksOf(CODEX_HOOKS, wanted, ' --runtime codex')

/** Where the MCP servers of a scope of Claude Code are: a file, the way to the list in it, and whether Claude writes to it too. */
export const claudeServersOf = (
  scope: ClaudeScope,
  { environment, workingFolder }: AgentPlace,
): { readonly file: string; readonly list: JsonPath; readonly isLive?: true } => {
  if (scope === 'project') return { file: join(workingFolder, '.mcp.json'), list: ['mcpServers'] }
  const file = claudeOwnFile(environment)
  if (scope === 'user') return { file, list: ['mcpServers'], isLive: true }
  return { file, list: ['projects', claudeProjectOf(workingFolder), 'mcpServers'], isLive: true }
}

/** The file of `/baton:handoff` in a scope. */
export const commandFileOf = (scope: ClaudeScope, place: AgentPlace): string =>
  join(claudeFolderOf(scope, place), 'commands', 'baton', 'handoff.md')

/** The files of a scope that stand in the folder of the project, by their paths in it. */
export const projectFilesOf = (scope: ClaudeScope, place: AgentPlace): readonly string[] => {
  if (scope === 'user') return []
  const files = [claudeSettingsOf(scope, place), commandFileOf(scope, place)]
  const all = scope === 'project' ? [...files, claudeServersOf(scope, place).file] : files
  return all.map((file) => relative(place.workingFolder, file).replaceAll('\\', '/'))
}

/** Keeps the files of one person out of git. Those that others have already are not our matter. */
const ignoredEdit = (place: AgentPlace, wanted: Wanted, git: GitFiles): FileEdit => {
  const [settings = '', command = ''] = projectFilesOf('local', place)
  const isOpen = (file: string): boolean => git.files[file]?.state === 'open'
  const isNew = wanted.parts.includes('command') && !existsSync(join(place.workingFolder, command))
  const own = [...(isOpen(settings) ? [settings] : []), ...(isOpen(command) && isNew ? [command] : [])]
  const linesOf = (files: readonly string[]) => files.flatMap((file) => git.files[file]?.pattern ?? [])
  const edit = excludeEdit({ path: git.excludeFile, lines: linesOf([settings, command]), wanted: linesOf(own) })
  return { ...edit, holder: { ...claudeHolder('local', place), slot: `/${git.prefix}` } }
}

/** The files of an installation in a scope of Claude Code. A part that is not wanted is still found when it is to go. */
export const claudeEdits = (
  scope: ClaudeScope,
  place: AgentPlace,
  all: Wanted,
  git?: GitFiles,
): readonly FileEdit[] => {
  const wanted = wantedIn(scope, all)
  const { parts, program, shippedCommand } = wanted
  const { file, list, isLive } = claudeServersOf(scope, place)
  const holder = claudeHolder(scope, place)
  const server = serverEdit(file, list, parts.includes('mcp') ? serverStartOf(wanted) : undefined, isLive)
  const edits = [
    settingsEdit({
      path: claudeSettingsOf(scope, place),
      ...(parts.includes('hooks') && { hooks: claudeHooksOf(wanted) }),
      ...(parts.includes('statusLine') && { statusLine: { program: program.launcher, flags: flagsOf(wanted) } }),
    }),
    // The scopes of a person share that file, each with a list of its own.
    isLive === true ? { ...server, holder: { ...holder, slot: JSON.stringify(list) } } : server,
    wholeFileEdit({
      path: commandFileOf(scope, place),
      content: parts.includes('command') ? handoffCommand(shippedCommand, program.words) : undefined,
      isOurs: (text) => isHandoffCommand(shippedCommand, text),
      isBorrowed: scope === 'local',
    }),
  ]
  const local = scope === 'local' && git !== undefined ? [ignoredEdit(place, wanted, git)] : []
  return [...local, ...edits].map((edit) => ({ holder, ...edit }))
}

/** The name of an installation in Claude Code, for files that it shares with others. */
export const claudeHolder = (scope: ClaudeScope, place: AgentPlace): Holder => ({
  scope,
  folder: realFolder(scope === 'user' ? claudeFolderOf(scope, place) : place.workingFolder),
})

/** The files of Codex: hooks, and configuration with MCP servers. */
export const codexFilesOf = ({
  environment,
}: AgentPlace): { readonly hooks: string; readonly configuration: string } => {
  const folder = codexFolder(environment)
  return { hooks: join(folder, 'hooks.json'), configuration: join(folder, 'config.toml') }
}

/** The files of an installation in Codex. */
export const codexEdits = (place: AgentPlace, wanted: Wanted): readonly FileEdit[] => {
  const { parts } = wanted
  const files = codexFilesOf(place)
  return [
    settingsEdit({ path: files.hooks, ...(parts.includes('hooks') && { hooks: codexHooksOf(wanted) }) }),
    tomlEdit(files.configuration, parts.includes('mcp') ? serverStartOf(wanted) : undefined),
  ]
}
