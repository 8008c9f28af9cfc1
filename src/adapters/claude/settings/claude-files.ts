import { join } from 'node:path'
import type { SettingsPlace, TerminalSettings, ToolServerList } from '../../../ports/agent/vendor.ts'
import { homeOf } from '../../place/home-folder.ts'
import { claudeProjectOf } from './claude-project.ts'

/** The scopes of Claude's settings: all projects of a person, one project for everybody, one project for one person. */
export const CLAUDE_SCOPES = ['user', 'project', 'local'] as const

/** One of the scopes. */
export type ClaudeScope = (typeof CLAUDE_SCOPES)[number]

/** The folder in which Claude Code keeps what belongs to a person. */
const claudeFolder = (environment: SettingsPlace['environment']): string =>
  environment.CLAUDE_CONFIG_DIR || join(homeOf(environment), '.claude')

/** The folder `.claude` of a scope. */
export const claudeFolderOf = (scope: ClaudeScope, { environment, workingFolder }: SettingsPlace): string =>
  scope === 'user' ? claudeFolder(environment) : join(workingFolder, '.claude')

/** The file in which Claude Code looks for hooks and the status line of a scope. */
export const claudeSettingsOf = (scope: ClaudeScope, place: SettingsPlace): string =>
  join(claudeFolderOf(scope, place), scope === 'local' ? 'settings.local.json' : 'settings.json')

/** The MCP servers of a scope; the file of a person is one that Claude Code itself writes all the time. */
export const claudeServersOf = (
  scope: ClaudeScope,
  { environment, workingFolder }: SettingsPlace,
): ToolServerList & { readonly isLive?: true } => {
  if (scope === 'project') return { file: join(workingFolder, '.mcp.json'), list: ['mcpServers'] }
  const file = join(environment.CLAUDE_CONFIG_DIR || homeOf(environment), '.claude.json')
  if (scope === 'user') return { file, list: ['mcpServers'], isLive: true }
  return { file, list: ['projects', claudeProjectOf(workingFolder), 'mcpServers'], isLive: true }
}

/** The file of `/baton:handoff` in a scope. */
export const commandFileOf = (scope: ClaudeScope, place: SettingsPlace): string =>
  join(claudeFolderOf(scope, place), 'commands', 'baton', 'handoff.md')

/** Where Claude Code looks for hooks and servers. */
export const claudeSettings: TerminalSettings = {
  title: 'Claude Code',
  hookFiles: (place) => CLAUDE_SCOPES.map((scope) => claudeSettingsOf(scope, place)),
  serverLists: (place) => (['user', 'local', 'project'] as const).map((scope) => claudeServersOf(scope, place)),
  removeServer: 'claude mcp remove',
}
