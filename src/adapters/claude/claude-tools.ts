import { INSTALLED_SERVER } from '../../domain/kernel/tool-servers.ts'
import type { ToolsEndpoint } from '../../ports/agent/run-tools.ts'
import { TOOLS_TOKEN } from '../../processes/agent-environment.ts'

/** An MCP server as Claude is told of it. */
export interface ClaudeMcpServer {
  type: 'http'
  url: string
  headers: Record<string, string>
  /** Its tools are in the prompt: an agent does not search for a tool that it does not miss. */
  alwaysLoad: true
}

/** The servers of a launch. Claude reads the token from its environment, because these travel as an argument. */
export const mcpServersOf = ({ server, url }: ToolsEndpoint): Record<string, ClaudeMcpServer> => ({
  [server]: { type: 'http', url, headers: { Authorization: `Bearer \${${TOOLS_TOKEN}}` }, alwaysLoad: true },
})

/** The tools of a launch by the names that Claude gives them, to be used without asking. */
export const toolNamesOf = ({ server, tools }: ToolsEndpoint): string[] =>
  tools.map((tool) => `mcp__${server}__${tool}`)

/**
 * The servers that are installed for terminals, by the settings and by the plugin, as rules that hide all of their tools:
 * an agent of a run has each tool once, and hands over to its run.
 */
export const INSTALLED_TOOLS: readonly string[] = [
  `mcp__${INSTALLED_SERVER}`,
  `mcp__plugin_${INSTALLED_SERVER}_${INSTALLED_SERVER}`,
]
