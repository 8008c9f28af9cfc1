import { join } from 'node:path'
import {
  type AgentPlace,
  CLAUDE_HOOKS,
  type ClaudeScope,
  CODEX_HOOKS,
  claudeFolderOf,
  claudeOwnFile,
  claudeSettingsOf,
  codexFolder,
} from '../../agent-settings.ts'
import { quoted } from '../../processes/quoted.ts'
import { claudeProjectOf } from './claude-project.ts'
import { serverEdit, settingsEdit, tomlEdit, wholeFileEdit } from './edits.ts'
import type { FileEdit } from './file-edit.ts'
import { handoffCommand, isHandoffCommand } from './handoff-command.ts'
import type { WantedHooks } from './hook-entries.ts'
import type { JsonPath } from './json-document.ts'
import type { OwnProgram } from './own-program.ts'
import type { ServerStart } from './server-entry.ts'

/** The parts of an installation. */
export const PARTS = ['hooks', 'statusLine', 'mcp', 'command'] as const

/** One of the parts. */
export type Part = (typeof PARTS)[number]

/** The entries that are to be in the settings of an agent. */
export interface Wanted {
  readonly program: OwnProgram
  readonly parts: readonly Part[]
  /** The folder of the service, where the person named one. */
  readonly dataDir?: string
  /** The command file that comes with the package. */
  readonly shippedCommand: string
}

/** Flags that every command of ours gets. */
const flagsOf = ({ dataDir }: Wanted): string => (dataDir === undefined ? '' : ` --data-dir ${quoted(dataDir)}`)

/** The hooks of a runtime with the commands that answer them. */
const hooksOf = (names: Readonly<Record<string, string>>, wanted: Wanted, more = ''): WantedHooks => {
  const { words } = wanted.program
  const commands = Object.entries(names).map(([name, event]) => [
    name,
    `${words} hook ${event}${more}${flagsOf(wanted)}`,
  ])
  return { program: words, hooks: Object.fromEntries(commands) as Record<string, string> }
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

/** The files of an installation in a scope of Claude Code. A part that is not wanted is still found when it is to go. */
export const claudeEdits = (scope: ClaudeScope, place: AgentPlace, wanted: Wanted): readonly FileEdit[] => {
  const { parts, program, shippedCommand } = wanted
  const { file, list, isLive } = claudeServersOf(scope, place)
  return [
    settingsEdit({
      path: claudeSettingsOf(scope, place),
      ...(parts.includes('hooks') && { hooks: claudeHooksOf(wanted) }),
      ...(parts.includes('statusLine') && { statusLine: { program: program.words, flags: flagsOf(wanted) } }),
    }),
    serverEdit(file, list, parts.includes('mcp') ? serverStartOf(wanted) : undefined, isLive),
    wholeFileEdit(
      commandFileOf(scope, place),
      parts.includes('command') ? handoffCommand(shippedCommand, program.words) : undefined,
      (text) => isHandoffCommand(shippedCommand, text),
    ),
  ]
}

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
