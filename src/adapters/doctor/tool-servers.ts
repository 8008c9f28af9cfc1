import { join } from 'node:path'
import { INSTALLED_SERVER } from '../../domain/kernel/tool-servers.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { type AgentPlace, claudeOwnFile, codexFolder, isOwnProgram } from '../install/agent-settings.ts'
import { claudePlugin } from './hooks-installed.ts'
import { isRecord, jsonIn, readSmallFile } from './small-file.ts'

/** An MCP server of ours in the settings of a runtime. */
interface NamedServer {
  readonly name: string
  readonly file: string
}

/**
 * Whether a runtime has our MCP server under two names: then an agent has each tool twice. Claude Code keeps what belongs
 * to a project under a name of its own for it.
 */
export const toolServers = async (place: AgentPlace, claudeProject: string): Promise<readonly Finding[]> => {
  const own = claudeOwnFile(place.environment)
  const claude = [
    ...serversIn(own, 'mcpServers'),
    ...serversIn(own, 'projects', claudeProject, 'mcpServers'),
    ...serversIn(join(place.workingFolder, '.mcp.json'), 'mcpServers'),
  ]
  const codex = [
    ...(await codexServers(join(codexFolder(place.environment), 'config.toml'))),
    ...(await codexServers(join(place.workingFolder, '.codex', 'config.toml'))),
  ]
  return [
    ...findingsFor(claude, 'claude mcp remove'),
    ...besidePlugin(claude, claudePlugin(place)),
    ...findingsFor(codex, 'codex mcp remove'),
  ]
}

/** The plugin brings the server under a name of its own. */
const besidePlugin = (servers: readonly NamedServer[], plugin: string | undefined): readonly Finding[] => {
  if (plugin === undefined || servers.length === 0) return []
  const named = servers.map(({ name, file }) => `"${name}" (${file})`).join(' and ')
  return [
    {
      result: 'warning',
      text: `the plugin, which ${plugin} switches on, brings the same server as ${named}, so an agent has each tool twice`,
      repair: 'Run "baton claude uninstall" and "claude mcp remove" for those, or remove the plugin.',
    },
  ]
}

const findingsFor = (servers: readonly NamedServer[], remove: string): readonly Finding[] => {
  const names = [...new Set(servers.map(({ name }) => name))]
  const files = [...new Set(servers.map(({ file }) => file))].join(', ')
  if (names.length === 0) return []
  if (names.length === 1) return [{ result: 'ok', text: `"${names[0]}" in ${files}` }]
  // The one that the installer looks after stays, where it is there.
  const remaining = names.includes(INSTALLED_SERVER) ? INSTALLED_SERVER : names[0]
  const others = names.filter((name) => name !== remaining)
  return [
    {
      result: 'warning',
      text: `${names.map((name) => `"${name}"`).join(' and ')} are the same server (${files}), so an agent has each tool twice`,
      repair: `Run ${others.map((name) => `"${remove} ${name}"`).join(' and ')}.`,
    },
  ]
}

const serversIn = (file: string, ...path: readonly string[]): readonly NamedServer[] => {
  const found = readSmallFile(file)
  let list: unknown = found.state === 'read' ? jsonIn(found.text) : undefined
  for (const name of path) list = isRecord(list) ? list[name] : undefined
  return ownIn(list, file)
}

const codexServers = async (file: string): Promise<readonly NamedServer[]> => {
  const found = readSmallFile(file)
  if (found.state !== 'read') return []
  const { parse } = await import('smol-toml')
  try {
    return ownIn(parse(found.text).mcp_servers, file)
  } catch {
    // Codex refuses such a file, and says where it is wrong.
    return []
  }
}

const ownIn = (list: unknown, file: string): readonly NamedServer[] =>
  isRecord(list) ? Object.entries(list).flatMap(([name, server]) => (isOurs(server) ? [{ name, file }] : [])) : []

const isOurs = (server: unknown): boolean => {
  if (!isRecord(server) || typeof server.command !== 'string' || !Array.isArray(server.args)) return false
  const words = server.args.filter((word) => typeof word === 'string')
  return words.includes('mcp') && isOwnProgram([server.command, ...words].join(' '))
}
