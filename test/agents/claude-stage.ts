import { ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import * as sdk from '@anthropic-ai/claude-agent-sdk'
import { agentSdkRuntime } from '../../src/adapters/claude/runtime/agent-sdk-runtime.ts'
import { claudeCommandRuntime } from '../../src/adapters/claude/runtime/claude-command-runtime.ts'
import type { AgentRuntime, RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import { NO_WAY_OUT } from './loopback-server.ts'
import { type MessagesApi, type Script, startMessagesApi, type Usage } from './messages-api.ts'

export const uses = (uncached: number, written: number, cached: number, output: number): Usage => ({
  input_tokens: uncached,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: cached,
  output_tokens: output,
})

export const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Says a word' } })
export const TOO_LONG = {
  status: 400,
  type: 'invalid_request_error',
  message: 'prompt is too long: 210000 tokens > 200000 maximum',
}
/** The command comes with the SDK, in a package for each platform. */
export const commandPath = (): string => {
  const sdk = createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk')
  const names = [`claude-agent-sdk-${process.platform}-${process.arch}`]
  const found = names.map((name) => join(dirname(sdk), '..', name, 'claude')).find(existsSync)
  ok(found, 'the command of this platform is installed')
  return found
}

export interface Stage {
  readonly api: MessagesApi
  readonly home: string
  readonly runtime: AgentRuntime
  readonly launch: (prompt?: string) => Parameters<AgentRuntime['start']>[0] & { readonly providerSessionId: string }
  readonly stop: AbortController
}

export type Make = (env: Record<string, string | undefined>) => AgentRuntime

/** All that the command may know: a home of its own, and an API of ours. */
export const environmentOf = (home: string, url: string): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  IS_SANDBOX: '1',
  ...NO_WAY_OUT,
})

/** A runtime in a home of its own, with an API of ours. */
export const stage = async (t: TestContext, make: Make, script: Script): Promise<Stage> => {
  const api = await startMessagesApi(script)
  const home = mkdtempSync(join(tmpdir(), 'batonpass-runtime-'))
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const runtime = make(environmentOf(home, api.url))
  const stop = new AbortController()
  const session = { providerSessionId: randomUUID(), workspace: { workingDirectory: home }, signal: stop.signal }
  return { api, home, runtime, stop, launch: (prompt = 'Say the word quokka.') => ({ ...session, prompt }) }
}

export const collect = async (agent: RunningAgent<unknown>): Promise<readonly RuntimeStep<unknown>[]> => {
  const steps = []
  for await (const step of agent.steps) steps.push(step)
  return steps
}

/** What still runs in a home, which every process of a run knows. Only Linux tells. */
export const runningIn = (home: string): readonly string[] =>
  (TELLS_PROCESSES ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${home}`)
          ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`]
          : []
      } catch {
        return []
      }
    })

export const TELLS_PROCESSES = existsSync('/proc/self/environ')
export const NEEDS_PROC = { skip: !TELLS_PROCESSES && 'processes are looked for in /proc' }

export const transcriptOf = (home: string, id: string): string => {
  const projects = join(home, '.claude/projects')
  const found = readdirSync(projects).map((project) => join(projects, project, `${id}.jsonl`))
  return readFileSync(found.find(existsSync) ?? '', 'utf8')
}

const runtimes = (own: { readonly autoCompact?: false } = {}): Readonly<Record<string, Make>> => ({
  claude_agent_sdk: (env) =>
    agentSdkRuntime({
      sdk, // our sources are not beside it, so they would not find it by name
      model: 'claude-sonnet-4-5',
      ...own,
      options: { env, settingSources: [], permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
    }),
  claude_code: (env) =>
    claudeCommandRuntime({
      command: commandPath(),
      env,
      model: 'claude-sonnet-4-5',
      ...own,
      permissionMode: 'bypassPermissions',
    }),
})

export const RUNTIMES = runtimes()

/** The same runtimes, which never make room by themselves. */
export const UNCOMPACTED = runtimes({ autoCompact: false })
