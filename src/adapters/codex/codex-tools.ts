import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLED_SERVER } from '../../domain/kernel/tool-servers.ts'
import type { ToolsEndpoint } from '../../ports/agent/run-tools.ts'
import { TOOLS_TOKEN, withToolsToken } from '../../processes/agent-environment.ts'
import type { CodexConfigValue, CodexOptions } from './codex-sdk.ts'

/**
 * The same options with the tools of a launch beside the caller's own. Codex reads the token from its environment. The
 * server that is installed for terminals is switched off: an agent has each tool once, and hands over to its run.
 */
export const withTools = async (
  codex: CodexOptions,
  tools: ToolsEndpoint | undefined,
  home: string,
): Promise<CodexOptions> => {
  if (tools === undefined) return codex
  const { server, url, token } = tools
  const ours = { url, bearer_token_env_var: TOOLS_TOKEN, default_tools_approval_mode: 'approve' }
  const others = (codex.config?.mcp_servers ?? {}) as { [key: string]: CodexConfigValue }
  const installed = (await isInstalled(home)) ? { [INSTALLED_SERVER]: { enabled: false } } : {}
  return {
    ...codex,
    config: { ...codex.config, mcp_servers: { ...others, ...installed, [server]: ours } },
    env: withToolsToken(codex.env ?? {}, token) as Record<string, string>,
  }
}

/** Whether the settings of Codex name our server. One that they do not name cannot be switched off: Codex would refuse it. */
const isInstalled = async (home: string): Promise<boolean> => {
  const { parse } = await import('smol-toml')
  try {
    const { mcp_servers: servers } = parse(readFileSync(join(home, 'config.toml'), 'utf8'))
    return typeof servers === 'object' && INSTALLED_SERVER in servers
  } catch {
    // There are no settings, or Codex itself will say what is wrong with them.
    return false
  }
}
