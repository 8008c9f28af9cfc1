import type { ToolsEndpoint } from '../../ports/run-tools.ts'
import { TOOLS_TOKEN, withToolsToken } from '../../processes/tools-environment.ts'
import type { CodexConfigValue, CodexOptions } from './codex-sdk.ts'

/** The same options with the tools of a launch beside the caller's own. Codex reads the token from its environment. */
export const withTools = (codex: CodexOptions, tools: ToolsEndpoint | undefined): CodexOptions => {
  if (tools === undefined) return codex
  const { server, url, token } = tools
  const ours = { url, bearer_token_env_var: TOOLS_TOKEN, default_tools_approval_mode: 'approve' }
  const others = (codex.config?.mcp_servers ?? {}) as { [key: string]: CodexConfigValue }
  return {
    ...codex,
    config: { ...codex.config, mcp_servers: { ...others, [server]: ours } },
    env: withToolsToken(codex.env ?? {}, token) as Record<string, string>,
  }
}
