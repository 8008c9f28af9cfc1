import { isRecord } from '../../domain/kernel/record.ts'
import { INSTALLED_SERVER } from '../../domain/kernel/tool-servers.ts'
import type { SettingsPlace, TerminalAgent, ToolServerList } from '../../ports/agent/vendor.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { isOwnProgram } from '../install/own-hook.ts'
import { enabledPlugin } from './hooks-installed.ts'
import { jsonIn, readSmallFile } from './small-file.ts'

/** An MCP server of ours in the settings of a runtime. */
interface NamedServer {
  readonly name: string
  readonly file: string
}

/** Whether a runtime has our MCP server under two names: then an agent has each tool twice. */
export const toolServers = async (
  place: SettingsPlace,
  agents: readonly TerminalAgent[],
): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  for (const agent of agents) {
    if (agent.settings === undefined) continue
    const { serverLists, removeServer } = await agent.settings()
    const servers = (await Promise.all(serverLists(place).map(serversIn))).flat()
    findings.push(
      ...findingsFor(servers, removeServer),
      ...besidePlugin(servers, await enabledPlugin(place, agent), agent.name, removeServer),
    )
  }
  return findings
}

/** The plugin brings the server under a name of its own. */
const besidePlugin = (
  servers: readonly NamedServer[],
  plugin: string | undefined,
  agent: string,
  remove: string,
): readonly Finding[] => {
  if (plugin === undefined || servers.length === 0) return []
  const named = servers.map(({ name, file }) => `"${name}" (${file})`).join(' and ')
  return [
    {
      result: 'warning',
      text: `the plugin, which ${plugin} switches on, brings the same server as ${named}, so an agent has each tool twice`,
      repair: `Run "baton ${agent} uninstall" and "${remove}" for those, or remove the plugin.`,
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

const serversIn = async ({ file, list: path }: ToolServerList): Promise<readonly NamedServer[]> => {
  const found = readSmallFile(file)
  if (found.state !== 'read') return []
  let list: unknown = file.endsWith('.toml') ? await tomlIn(found.text) : jsonIn(found.text)
  for (const name of path) list = isRecord(list) ? list[name] : undefined
  return ownIn(list, file)
}

const tomlIn = async (text: string): Promise<unknown> => {
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch {
    // The agent refuses such a file, and says where it is wrong.
    return undefined
  }
}

const ownIn = (list: unknown, file: string): readonly NamedServer[] =>
  isRecord(list) ? Object.entries(list).flatMap(([name, server]) => (isOurs(server) ? [{ name, file }] : [])) : []

const isOurs = (server: unknown): boolean => {
  if (!isRecord(server) || typeof server.command !== 'string' || !Array.isArray(server.args)) return false
  const words = server.args.filter((word) => typeof word === 'string')
  return words.includes('mcp') && isOwnProgram([server.command, ...words].join(' '))
}
