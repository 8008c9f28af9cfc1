import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as codexSdk from '@openai/codex-sdk'
import { codexRuntime } from '../../src/adapters/codex/runtime/codex-runtime.ts'
import { createBatonpass, type RunEvent } from '../../src/entry/index.ts'
import { bash, commandPath, environmentOf, uses } from './claude-stage.ts'
import { NO_WAY_OUT } from './loopback-server.ts'
import { startMessagesApi } from './messages-api.ts'
import { PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

const MAIN = fileURLToPath(new URL('../../src/adapters/cli/main.ts', import.meta.url))
const TSX = import.meta.resolve('tsx')
const SMALL = uses(10, 100, 0, 5)

const folder = (t: TestContext): string => {
  const made = mkdtempSync(join(tmpdir(), 'batonpass-refused-'))
  t.after(() => rmSync(made, { recursive: true, force: true, maxRetries: 5 }))
  return made
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A home with the real `claude` in its PATH, whose agent wants to write the plan. */
const writing = async (t: TestContext) => {
  const home = folder(t)
  const bin = join(home, 'bin')
  mkdirSync(bin)
  symlinkSync(commandPath(), join(bin, 'claude'))
  const plan = join(home, 'plan.md')
  const api = await startMessagesApi({
    turns: [
      { tool: bash('ls'), usage: SMALL },
      { tool: { name: 'Write', input: { file_path: plan, content: 'The plan.' } }, usage: SMALL },
      { text: 'I have written the plan.', usage: SMALL },
    ],
  })
  t.after(() => api[Symbol.asyncDispose]())
  const environment = { ...environmentOf(home, api.url), PATH: `${bin}${delimiter}${process.env.PATH}` }
  const baton = (...args: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const store = ['--data-dir', join(home, 'store')]
      const child = spawn(process.execPath, ['--import', TSX, MAIN, ...args, ...store], { cwd: home, env: environment })
      const said = { out: '', err: '' }
      child.stdout.on('data', (data: Buffer) => (said.out += data.toString()))
      child.stderr.on('data', (data: Buffer) => (said.err += data.toString()))
      child.on('close', (code) => resolve({ code, ...said }))
      child.stdin.end()
    })
  return { plan, baton }
}

describe('the real claude, which nobody has allowed to write', PATIENT, () => {
  it('ends with a status of its own, and says what was refused and which flag allows it', async (t) => {
    const { plan, baton } = await writing(t)
    const { code, err } = await baton('run', '--runtime', 'claude', 'Write the plan', '--conversation', 'plan')
    equal(existsSync(plan), false)
    equal(code, 10, err)
    const lines = err.split('\n')
    match(lines.find((line) => line.startsWith('runtime')) ?? '', /^runtime: claude$/)
    ok(lines.includes('refused, because nobody has allowed it: Write'), err)
    ok(lines.includes('To allow them: --permission-mode acceptEdits'), err)
    match(err, /The run has not completed \(nothing was written\)/)
    equal(/^completed/m.test(err), false, err)
    const [, flag = '', mode = ''] = /To allow them: (\S+) (\S+)/.exec(err) ?? []
    const again = await baton('run', '--runtime', 'claude', 'Write the plan', '--conversation', 'plan', flag, mode)
    equal(again.code, 0, again.err)
  })

  it('writes in the mode that the hint names', async (t) => {
    const { plan, baton } = await writing(t)
    const { code, err } = await baton('run', '--runtime', 'claude', 'Write it', '--permission-mode', 'acceptEdits')
    equal(code, 0, err)
    equal(readFileSync(plan, 'utf8'), 'The plan.')
    equal(/^refused/m.test(err), false, err)
  })

  it('is told of in the events and in the summary', async (t) => {
    const { plan, baton } = await writing(t)
    const { code, out, err } = await baton('run', '--runtime', 'claude', 'Write the plan', '--json')
    equal(code, 10, err)
    const events = out
      .trim()
      .split('\n')
      .map((line): RunEvent => JSON.parse(line))
    const refused = events.flatMap((event) => (event.type === 'tool:refused' ? [event] : []))
    deepEqual(
      refused.map(({ toolName, argument, isWrite, allowedBy }) => ({ toolName, argument, isWrite, allowedBy })),
      [{ toolName: 'Write', argument: plan, isWrite: true, allowedBy: 'acceptEdits' }],
    )
    const [end] = events.flatMap((event) => (event.type === 'run:end' ? [event.summary] : []))
    equal(end?.outcome, 'writes_refused')
    deepEqual(end?.refusedTools, [
      { agentName: 'claude', toolName: 'Write', isWrite: true, allowedBy: 'acceptEdits', count: 1 },
    ])
  })
})

describe('the real Codex in its read-only sandbox', PATIENT, () => {
  const used = { input: 1_000, cached: 0, output: 5 }
  const patch = '*** Begin Patch\n*** Add File: plan.md\n+The plan.\n*** End Patch'
  const turns = [
    { command: 'ls', ...used },
    { command: `apply_patch <<'EOF'\n${patch}\nEOF`, ...used },
    { text: 'The plan is written.', ...used },
  ]

  const play = async (t: TestContext, sandboxMode?: 'workspace-write') => {
    const home = folder(t)
    await using api = await startResponsesApi(turns)
    const loopback = { name: 'loopback', base_url: `${api.url}/v1`, env_key: 'NO_KEY', wire_api: 'responses' }
    const runtime = codexRuntime({
      sdk: codexSdk,
      codex: {
        env: { PATH: process.env.PATH ?? '', HOME: home, NO_KEY: 'none', ...NO_WAY_OUT },
        config: {
          model_provider: 'loopback',
          model_providers: { loopback },
          analytics: { enabled: false },
          check_for_update_on_startup: false,
        },
      },
      thread: { skipGitRepoCheck: true, ...(sandboxMode && { sandboxMode }) },
    })
    await using batonpass = await createBatonpass({ store: 'memory' })
    const about = { agent: 'codex', model: 'gpt-5.5', workspace: { workingDirectory: home } }
    const summary = await batonpass.run({ runtime, prompt: 'Write the plan', ...about }).finish()
    return { summary, isWritten: existsSync(join(home, 'plan.md')) }
  }

  it('is told of its rejected patch', async (t) => {
    const { summary, isWritten } = await play(t)
    equal(isWritten, false)
    equal(summary.outcome, 'writes_refused')
    deepEqual(summary.refusedTools, [
      { agentName: 'codex', toolName: 'apply_patch', isWrite: true, allowedBy: 'workspace-write', count: 1 },
    ])
  })

  it('writes in the mode that is named', async (t) => {
    const { summary, isWritten } = await play(t, 'workspace-write')
    equal(isWritten, true)
    equal(summary.outcome, 'completed')
    equal(summary.writes, 1)
  })
})
