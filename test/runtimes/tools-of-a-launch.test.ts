import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { launchArgs, questionArgs } from '../../src/adapters/claude/runtime/command-args.ts'
import { launchOptions, questionOptions } from '../../src/adapters/claude/runtime/sdk-options.ts'
import { withTools } from '../../src/adapters/codex/runtime/codex-tools.ts'
import type { ToolsEndpoint } from '../../src/ports/agent/run-tools.ts'
import { withToolsToken } from '../../src/processes/agent-environment.ts'

const tools: ToolsEndpoint = {
  server: 'baton_run',
  url: 'http://127.0.0.1:4711/mcp',
  token: 's3cret-of-the-launch',
  tools: ['look_back'],
}
const HEADERS = { Authorization: `Bearer ${'$'}{BATONPASS_TOOLS_TOKEN}` }
const SERVER = { type: 'http', url: tools.url, headers: HEADERS, alwaysLoad: true }
const signal = new AbortController().signal
const question = { providerSessionId: 's-1', prompt: 'What is done?', signal }

describe('the tools of a launch', () => {
  it('stand beside the caller’s own in the Agent SDK, and are used without asking', () => {
    const mine = { type: 'stdio', command: 'mine' }
    const lists = { allowedTools: ['Bash'], disallowedTools: ['Task'], tools: ['Bash'] }
    const options = { env: { PATH: '/bin' }, mcpServers: { mine }, ...lists }
    const { env, ...given } = launchOptions({ options }, { tools })
    expect(given.mcpServers).toEqual({ mine, baton_run: SERVER })
    expect(given.allowedTools).toEqual(['Bash', 'mcp__baton_run__look_back'])
    // What is installed for terminals would offer the same tools again, and knows nothing of the run.
    expect(given.disallowedTools).toEqual(['Task', 'mcp__baton', 'mcp__plugin_baton_baton'])
    expect(given.tools).toEqual(['Bash'])
    expect(env?.BATONPASS_TOOLS_TOKEN).toBe(tools.token)
    // The SDK makes arguments of everything else, which every user of the machine can read.
    expect(JSON.stringify(given)).not.toContain(tools.token)
    expect(launchOptions({ options }, {}).mcpServers).toEqual({ mine })
  })

  it('are three more arguments of the command, without the token', () => {
    const args = launchArgs({ args: ['--mcp-config', 'mine.json', '--allowedTools', 'Bash'] }, { tools })
    expect(args.slice(0, 4)).toEqual(['--mcp-config', 'mine.json', '--allowedTools', 'Bash'])
    expect(args.slice(-3)).toEqual([
      `--mcp-config=${JSON.stringify({ mcpServers: { baton_run: SERVER } })}`,
      '--allowedTools=mcp__baton_run__look_back',
      '--disallowedTools=mcp__baton,mcp__plugin_baton_baton',
    ])
    expect(args.join(' ')).not.toContain(tools.token)
    expect(launchArgs({}, {}).join(' ')).not.toContain('mcp')
  })

  it('are one more server in the configuration of Codex, approved in advance, without the token', async () => {
    const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
    const mine = { command: 'mine' }
    const asked = { config: { model: 'm', mcp_servers: { mine } }, env: { PATH: '/bin' } }
    const { env, ...given } = await withTools(asked, tools, home)
    const ours = {
      url: tools.url,
      bearer_token_env_var: 'BATONPASS_TOOLS_TOKEN',
      default_tools_approval_mode: 'approve',
    }
    expect(given).toEqual({ config: { model: 'm', mcp_servers: { mine, baton_run: ours } } })
    expect(env).toEqual({ PATH: '/bin', BATONPASS_TOOLS_TOKEN: tools.token })
    const codex = { env: { PATH: '/bin' } }
    expect(await withTools(codex, undefined, home)).toBe(codex)
  })

  it.each([
    ['a table', '[mcp_servers.baton]\ncommand = "baton"\nargs = ["mcp"]\n', true],
    ['an inline table', 'mcp_servers = { baton = { url = "http://127.0.0.1:1" } }\n', true],
    ['nothing', '[mcp_servers.other]\ncommand = "baton"\n', false],
    ['a text that only looks like it', 'notes = """\n[mcp_servers.baton]\n"""\n', false],
    ['no TOML', '[mcp_servers.baton\n', false],
  ])('take the place of the server that is installed for terminals, named by %s', async (_, settings, isInstalled) => {
    const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
    writeFileSync(join(home, 'config.toml'), settings)
    const { config } = await withTools({ env: {} }, tools, home)
    // Codex refuses to switch off a server that nobody has named.
    expect(config?.mcp_servers).toEqual({
      ...(isInstalled && { baton: { enabled: false } }),
      baton_run: expect.objectContaining({ url: tools.url }),
    })
  })

  it('are in no question', () => {
    const options = { env: {}, mcpServers: { mine: { type: 'stdio', command: 'mine' } } }
    expect(questionOptions({ options }, question)).toMatchObject({ tools: [], allowedTools: [], strictMcpConfig: true })
    expect(questionOptions({ options }, question)).not.toHaveProperty('mcpServers')
    expect(questionArgs({}, question).join(' ')).not.toContain('baton')
  })

  it.each([
    ['there is no proxy', {}, {}],
    ['a proxy is empty', { HTTP_PROXY: '' }, {}],
    ['a proxy passes nothing', { HTTP_PROXY: 'p' }, { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }],
    ['it passes others', { http_proxy: 'p', no_proxy: 'a' }, { NO_PROXY: 'a,127.0.0.1', no_proxy: 'a,127.0.0.1' }],
    [
      'it passes us',
      { ALL_PROXY: 'p', NO_PROXY: 'a, 127.0.0.1' },
      { NO_PROXY: 'a, 127.0.0.1', no_proxy: 'a, 127.0.0.1' },
    ],
    ['it passes all', { HTTP_PROXY: 'p', NO_PROXY: '*' }, { NO_PROXY: '*', no_proxy: '*' }],
  ])('are reached without a proxy in between, also when %s', (_, environment, added) => {
    expect(withToolsToken(environment, 't')).toEqual({ ...environment, ...added, BATONPASS_TOOLS_TOKEN: 't' })
    expect(withToolsToken(environment, undefined)).toBe(environment)
  })
})
