import { equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { serve } from '../../src/main/serve.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { bundle } from '../support/bundle.ts'
import { NEEDS_PROC } from './claude-stage.ts'
import { NO_WAY_OUT } from './loopback-server.ts'
import { PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

const CODEX = createRequire(import.meta.url).resolve('@openai/codex/bin/codex.js')
const PROGRAM = fileURLToPath(new URL('../support/hook-program.ts', import.meta.url))
const HOOKS = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'user-prompt-submit',
  PreCompact: 'pre-compact',
  PostCompact: 'post-compact',
  Stop: 'stop',
  SessionEnd: 'session-end',
}

describe('the real Codex that is continued', PATIENT, () => {
  it(
    'is in the conversation that its work belongs to: taken over, resumed, forked, and killed',
    NEEDS_PROC,
    async (t) => {
      const sent: string[] = []
      const api = await startResponsesApi(async (text, gone) => {
        sent.push(text)
        // This one never gets its answer.
        if (text.includes('Wait for me')) await new Promise((resolve) => gone.addEventListener('abort', resolve))
        return { input: 100 * sent.length, cached: 0, output: 3, text: `Understood ${sent.length}.` }
      })
      const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
      t.after(async () => {
        await api[Symbol.asyncDispose]()
        rmSync(home, { recursive: true, force: true, maxRetries: 5 })
      })
      const folder = join(home, '.batonpass')
      const program = fileURLToPath(await bundle(PROGRAM, home))
      mkdirSync(join(home, '.codex'))
      const command = (event: string): string =>
        `'${process.execPath}' '${program}' hook ${event} --runtime codex --data-dir '${folder}'`
      const hooks = Object.entries(HOOKS).map(([name, event]) => [
        name,
        [{ hooks: [{ type: 'command', command: command(event) }] }],
      ])
      writeFileSync(join(home, '.codex', 'hooks.json'), JSON.stringify({ hooks: Object.fromEntries(hooks) }))
      const provider = `{name="loopback",base_url="${api.url}/v1",env_key="NO_KEY",wire_api="responses"}`
      const settings = [
        'model_provider="loopback"',
        `model_providers.loopback=${provider}`,
        'check_for_update_on_startup=false',
      ]
      const environment = {
        ...{ PATH: process.env.PATH, HOME: home, NO_KEY: 'none', BATONPASS_HOOK_BUDGET_MS: '300000' },
        ...NO_WAY_OUT,
      }
      const codex = (...words: readonly string[]) => {
        const flags = ['--skip-git-repo-check', '--dangerously-bypass-hook-trust', '--json', '-m', 'gpt-5.5']
        const config = [...settings, 'analytics.enabled=false'].flatMap((setting) => ['-c', setting])
        const args = ['exec', ...words.slice(0, -1), ...flags, ...config, words.at(-1) ?? '']
        const stdio = ['ignore', 'pipe', 'pipe'] as const
        return spawn(process.execPath, [CODEX, ...args], { cwd: home, env: environment, stdio: [...stdio] })
      }
      const ask = async (...words: readonly string[]): Promise<string> => {
        const child = codex(...words)
        let said = ''
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
        equal(await new Promise((resolve) => child.once('close', resolve)), 0, said)
        return /"thread_id":"([0-9a-f-]{36})"/.exec(said)?.[1] ?? ''
      }

      const store: Store = { ...new MemoryStore({ clock: systemClock }), [Symbol.asyncDispose]: async () => {} }
      const service = await serve({ folder, store, environment, port: 0 })
      await using _ = { [Symbol.asyncDispose]: () => service.stop() }
      const lastOf = async (id: string) => {
        const session = (await store.sessions.findByProviderSession(id)).at(-1)
        const conversation = session && (await store.conversations.find(session.conversationId))
        return {
          state: session?.state,
          epoch: session?.epoch,
          conversation: conversation?.id,
          parent: conversation?.parentId,
        }
      }

      const first = await ask('Never touch quokka')
      const { conversation } = await lastOf(first)
      // Its process has ended: the document is of the last session here.
      const left = await fetch(`http://127.0.0.1:${service.port}/sessions/${first}/handoff`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${readFileSync(join(folder, 'service.token'), 'utf8').trim()}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ document: 'The word is wombat.' }),
      })
      equal(left.status, 201, await left.text())
      const second = await ask('Never touch numbat')
      ok(second !== first)
      match(sent.at(-1) ?? '', /the word is wombat[\s\S]*Never touch quokka/i)
      equal((await lastOf(second)).conversation, conversation)
      equal(await ask('resume', second, 'Never touch bilby'), second)
      const resumed = await lastOf(second)
      equal(resumed.conversation, conversation)
      equal(resumed.state, 'completed')
      const fork = await ask('fork', second, 'Never touch dingo')
      const forked = await lastOf(fork)
      equal(forked.parent, conversation)

      const killed = codex('resume', second, 'Wait for me')
      const agents = join(folder, 'agents')
      while (!sent.some((text) => text.includes('Wait for me'))) await pause(100)
      equal((await lastOf(second)).state, 'active')
      const pids = readdirSync(agents).map((name) => Number.parseInt(name, 10))
      equal(pids.length, 1)
      process.kill(pids[0] ?? 0, 'SIGKILL')
      await new Promise((resolve) => killed.once('close', resolve))
      await ask('Something else')
      const ended = await lastOf(second)
      equal(ended.state, 'completed')
      equal(ended.conversation, conversation)
    },
  )
})
