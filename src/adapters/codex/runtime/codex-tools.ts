import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLED_SERVER } from '../../../domain/kernel/tool-servers.ts'
import type { ToolsEndpoint } from '../../../ports/agent/run-tools.ts'
import { TOOLS_TOKEN, withToolsToken } from '../../../processes/agent-environment.ts'
import type { CodexConfigValue, CodexOptions, CodexThreadOptions } from './codex-sdk.ts'

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

/** Every switch Codex has for tools of its own. What is left is `apply_patch`, which a read-only sandbox refuses. */
const SWITCHES: readonly string[] = [
  ...['shell_tool', 'unified_exec', 'view_image', 'image_generation', 'goals', 'apps', 'plugins', 'tool_suggest'].map(
    (feature) => `features.${feature}=false`,
  ),
  'features.multi_agent=false',
  // A thread remembers that it could have subagents, whatever the features say later, and keeps a tool to find them.
  'agents.max_depth=0',
  'tools.experimental_request_user_input.enabled=false',
  'tools.update_plan.enabled=false',
]

/** The same options with as few tools as Codex can be told to have. The last word on a setting counts. */
export const withoutTools = (codex: CodexOptions): CodexOptions => {
  const servers = Object.keys(codex.config?.mcp_servers ?? {}).map((name) => `mcp_servers.${name}.enabled=false`)
  return { ...codex, configOverrides: [...(codex.configOverrides ?? []), ...SWITCHES, ...servers] }
}

/** How a thread is resumed that is to answer and to do nothing. */
export const ANSWER_ONLY = {
  sandboxMode: 'read-only',
  approvalPolicy: 'never',
  webSearchMode: 'disabled',
  networkAccessEnabled: false,
} as const satisfies CodexThreadOptions
