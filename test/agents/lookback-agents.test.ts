import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as sdk from '@anthropic-ai/claude-agent-sdk'
import { agentSdkRuntime } from '../../src/adapters/claude/runtime/agent-sdk-runtime.ts'
import { claudeCommandRuntime } from '../../src/adapters/claude/runtime/claude-command-runtime.ts'
import { systemClock } from '../../src/entry/container.ts'
import { type AgentRuntime, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { ASKS, EMPTY, FILLS, FULL, TASK } from './claude-runs.ts'
import { bash, commandPath, type Make, stage } from './claude-stage.ts'
import { codexAt, installCodex } from './codex-stage.ts'
import type { Body } from './messages-api.ts'
import { never, PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

/** The word is in the result of the command, and nowhere else. */
const COMMAND = 'echo "wombat-$((40 + 2))"'
const WORD = 'wombat-42'

const COMMAND_IN = [COMMAND, 'echo numbat']

const checkpointOn = (callId: string): string =>
  `<checkpoint>\n## Completed work\n- Said the word [call:${callId}]\n</checkpoint>`

/** As the guide says it. */
const BY_HAND = '[mcp_servers.baton]\ncommand = "baton"\nargs = ["mcp", "--runtime", "codex"]\n'

/** Runs an agent through three windows: what each session looked up, as it is on record. */
const run = async (runtime: AgentRuntime, home: string, model?: string) => {
  const store = new MemoryStore({ clock: systemClock })
  await using batonpass = await createBatonpass({ store })
  const about = { agent: 'agent', prompt: TASK, policy: 'auto', ...(model !== undefined && { model }) } as const
  const summary = await batonpass.run({ runtime, ...about, workspace: { workingDirectory: home } }).finish()
  deepEqual([summary.outcome, summary.reason, summary.restarts], ['completed', undefined, 2])
  const { conversationId } = summary
  const { items: sessions } = await batonpass.history.sessions(conversationId)
  const { items: asked } = await store.lookBacks.listForConversation(conversationId, {})
  const verdict = await batonpass.audit.verify(conversationId)
  ok(verdict.ok && verdict.value.intact, 'the audit log is intact')
  const epochOf = (id: string): number | undefined => sessions.find((session) => session.id === id)?.epoch
  return asked.map(({ sessionId, by, text, found }) => [epochOf(sessionId), by, text, found])
}

/** With permissions of the person's own, so that ours are shown to be beside them. */
const RUNTIMES: Readonly<Record<string, Make>> = {
  claude_agent_sdk: (env) =>
    agentSdkRuntime({
      sdk,
      model: 'claude-sonnet-4-5',
      options: { env, settingSources: [], permissionMode: 'dontAsk', allowedTools: ['Bash'] },
    }),
  claude_code: (env) =>
    claudeCommandRuntime({
      command: commandPath(),
      env,
      model: 'claude-sonnet-4-5',
      permissionMode: 'dontAsk',
      args: ['--allowedTools=Bash'],
    }),
}

const BATON = fileURLToPath(new URL('../../src/adapters/cli/main.ts', import.meta.url))
const toolsOf = ({ tools = [] }: Body): readonly string[] => tools.map((tool) => (tool as { name: string }).name)
const LOOK_BACK = 'mcp__baton_run__look_back'

for (const [backend, make] of Object.entries(RUNTIMES)) {
  describe(`looking back, in a run of ${backend}`, PATIENT, () => {
    it('gives the third window the result of a call that the first one cited', async (t) => {
      const first = [{ tool: bash(COMMAND), usage: EMPTY }, ...FILLS.slice(1)]
      const third = [
        { tool: { name: LOOK_BACK, input: { call: '[call:toolu_1]' } }, usage: EMPTY },
        { text: 'I have the word.', usage: EMPTY },
      ]
      const question = { prompt: ASKS, text: checkpointOn('toolu_1'), usage: FULL }
      const { api, home, runtime } = await stage(t, make, { windows: [first, FILLS, third], question })
      // As `baton claude install` leaves it. It knows nothing of a run, so the agent of a run must not have it.
      const installed = {
        type: 'stdio',
        command: process.execPath,
        args: ['--import', import.meta.resolve('tsx'), BATON, 'mcp'],
        alwaysLoad: true,
      }
      writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: { baton: installed } }))
      deepEqual(await run(runtime, home), [[3, 'call', 'toolu_1', 2]])
      const turns = api.requests.filter((_, index) => api.asked[index] === 'turn')
      const isOffered = turns.map((body) => toolsOf(body).includes(LOOK_BACK))
      equal(isOffered[0], false)
      const installedOf = (body: Body) => toolsOf(body).filter((name) => name.startsWith('mcp__baton__')).length
      // The SDK is told to read no settings.
      equal(turns.slice(0, 3).some(installedOf), backend === 'claude_code')
      equal(turns.slice(-2).some(installedOf), false)
      deepEqual(isOffered.slice(-2), [true, true])
      const [opening, answered] = turns.slice(-2).map((body) => JSON.stringify(body.messages))
      match(opening ?? '', /the tool `look_back` of the MCP server `baton_run`/)
      ok(!opening?.includes(WORD), 'nobody told it the word')
      match(answered ?? '', new RegExp(`\\| ${WORD}`))
      for (const [index, body] of api.requests.entries())
        if (api.asked[index] === 'question') deepEqual(toolsOf(body), [])
    })
  })
}

describe('looking back, in a run of codex', PATIENT, () => {
  // Settings are merged by name: the server of a run must not be the one that is installed for terminals.
  for (const [beside, prepare] of Object.entries({
    'nothing else': () => {},
    'what "baton codex install" puts into its settings': installCodex,
    'a server that a person named by hand': (home: string) =>
      writeFileSync(join(home, '.codex', 'config.toml'), BY_HAND),
  }))
    it(`gives the third window the result of a call that the first one cited, beside ${beside}`, async (t) => {
      const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
      t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
      mkdirSync(join(home, '.codex'))
      await prepare(home)
      const windows: string[][] = [[], [], []]
      let window = 0
      const [full, empty] = [
        { input: 240_000, cached: 0, output: 40 },
        { input: 12_000, cached: 0, output: 40 },
      ]
      await using api = await startResponsesApi(async (sent, gone) => {
        if (sent.includes(ASKS)) {
          window += 1
          return { text: checkpointOn('call_1'), ...full }
        }
        const asked = windows[window]?.push(sent) ?? 0
        if (window < 2 && asked === 1) return { command: COMMAND_IN[window] ?? '', ...empty }
        if (window < 2 && asked === 2) return { command: 'echo still', ...full }
        if (window < 2) await never(gone)
        if (asked > 1) return { text: 'I have the word.', ...empty }
        return { tool: { server: 'baton_run', name: 'look_back', input: { call: '[call:call_1]' } }, ...empty }
      })
      deepEqual(await run(codexAt(api.url, home), home, 'gpt-5.5'), [[3, 'call', 'call_1', 2]])
      const [opening = '', answered = ''] = windows[2] ?? []
      match(opening, /the tool `look_back` of the MCP server `baton_run`/)
      ok(!opening.includes(WORD), 'nobody told it the word')
      match(answered, new RegExp(`\\| ${WORD}`))
    })
})
