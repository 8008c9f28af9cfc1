import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type ClaudeCommandRuntimeOptions,
  claudeCommandRuntime,
} from '../../src/adapters/claude/runtime/claude-command-runtime.ts'
import { jsonLines } from '../../src/adapters/claude/runtime/json-lines.ts'
import { usableWindow } from '../../src/domain/window/context-pressure.ts'
import { WindowGauge } from '../../src/domain/window/window-gauge.ts'
import { answer, collect, endOfRun, result, until } from './claude-messages.ts'

/** What every fake command begins with: it writes down how it was started, and reads its prompt. */
const PREAMBLE = `#!${process.execPath}
const fs = require('node:fs')
const { spawn } = require('node:child_process')
const note = (name, value) => fs.writeFileSync(__dirname + '/' + name, String(value))
const say = (...messages) => messages.forEach((message) => console.log(JSON.stringify(message)))
const answer = ${JSON.stringify(answer('msg_1', 'Half.'))}
const result = ${JSON.stringify(result())}
note('args', JSON.stringify(process.argv.slice(2)))
note('cwd', process.cwd())
const isOpen = process.argv.includes('--input-format=stream-json')
const readLine = () => {
  const byte = Buffer.alloc(1)
  let line = []
  while (fs.readSync(0, byte, 0, 1) === 1 && byte[0] !== 10) line.push(byte[0])
  return Buffer.from(line).toString()
}
note('prompt', isOpen ? JSON.parse(readLine()).message.content : fs.readFileSync(0, 'utf8'))
note('pid', process.pid)
`

const stage = (script: string, options: ClaudeCommandRuntimeOptions = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const command = join(folder, 'claude.cjs')
  writeFileSync(command, PREAMBLE + script)
  chmodSync(command, 0o755)
  const stop = new AbortController()
  const noted = (name: string): string => readFileSync(join(folder, name), 'utf8')
  return {
    stop,
    noted,
    folder,
    isRunning: (name = 'pid') => existsSync(join(folder, name)) && isRunning(Number(noted(name))),
    runtime: claudeCommandRuntime({ command, ...options }),
    launch: { prompt: '--version\nGo', signal: stop.signal },
  }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A process that has ended stays in the table until its parent, which is not us, has noticed.
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

const HANGS = 'say(answer); setInterval(() => {}, 1000)'

describe('a launch', () => {
  it('passes every message on, and ends with the result', async () => {
    const { runtime, launch, noted } = stage('say(answer, result)')
    const steps = await collect(runtime.start(launch))
    expect(steps.map(({ message }) => message?.type)).toEqual(['assistant', 'result'])
    expect(steps[0]).toMatchObject({ providerSessionId: 'session-1', texts: [{ role: 'assistant', text: 'Half.' }] })
    expect(steps[1]?.end).toEqual({ type: 'idle' })
    expect(noted('prompt')).toBe('--version\nGo')
    const args = ['-p', '--output-format=stream-json', '--verbose', '--input-format=stream-json']
    expect(JSON.parse(noted('args'))).toEqual([...args, '--include-partial-messages'])
    expect(steps[0]?.events[0]).toEqual({ type: 'auto_compact_reserve', tokens: 33_000 })
  })

  it.each<ClaudeCommandRuntimeOptions>([
    { autoCompact: false },
    { settings: { autoCompactEnabled: false } },
    { env: { PATH: process.env.PATH, DISABLE_AUTO_COMPACT: '1' } },
  ])('expects no compaction that was switched off: %j', async (options) => {
    const { runtime, launch } = stage('say(answer, result)', options)
    const events = (await collect(runtime.start(launch))).flatMap((step) => step.events)
    expect(events.map(({ type }) => type)).toEqual(['request', 'answer_text'])
  })

  it.each<readonly [Record<string, string>, number]>([
    [{}, 967_000],
    [{ CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' }, 167_000],
    [{ CLAUDE_CODE_DISABLE_1M_CONTEXT: '0' }, 967_000],
    [{ CLAUDE_CODE_USE_BEDROCK: '1' }, 167_000],
    [{ CLAUDE_CODE_USE_VERTEX: 'true' }, 167_000],
    [{ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, 117_000],
    [{ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '900000', CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' }, 167_000],
    [{ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' }, 483_500],
    [{ CLAUDE_CODE_MAX_CONTEXT_TOKENS: '120000' }, 87_000],
    [{ CLAUDE_CODE_DISABLE_1M_CONTEXT: '1', DISABLE_AUTO_COMPACT: '1' }, 200_000],
    [{ CLAUDE_CODE_AUTO_COMPACT_WINDOW: 'large' }, 967_000],
  ])('reads from its variables how much of the window there is to use: %j', async (more, tokens) => {
    const { runtime, launch } = stage('say(answer)', { env: { PATH: process.env.PATH, ...more } })
    const believed = () => ({ tokens: 1_000_000, source: 'catalogue' as const })
    const gauge = new WindowGauge({ runtime: 'claude', believed })
    for (const { events } of await collect(runtime.start(launch))) gauge.take(events)
    expect(usableWindow(gauge.windowParts())?.tokens).toBe(tokens)
  })

  it('lifts the local limit of the command, so that a late milestone is reached', async () => {
    const { runtime, launch, noted } = stage(
      "note('limit', process.env.CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE); say(result)",
    )
    await collect(runtime.start(launch))
    expect(noted('limit')).toBe('100000000')
  })

  it('says all it was told to the command, its own facts last', async () => {
    const { runtime, launch, noted } = stage('say(result)', {
      args: ['--add-dir', '/data'],
      model: 'opus',
      permissionMode: 'acceptEdits',
      settings: { theme: 'dark' },
      autoCompact: false,
      includePartialMessages: true,
    })
    const args = () => JSON.parse(noted('args')) as readonly string[]
    await collect(runtime.start({ ...launch, providerSessionId: 'new-1', model: 'haiku' }))
    expect(args()).toEqual([
      ...['--add-dir', '/data', '-p', '--output-format=stream-json', '--verbose', '--input-format=stream-json'],
      ...['--model=haiku', '--permission-mode=acceptEdits'],
      ...['--settings={"theme":"dark","autoCompactEnabled":false}'],
      ...['--include-partial-messages', '--session-id=new-1'],
    ])
    await collect(runtime.resume?.({ ...launch, providerSessionId: 'old-1' }) ?? runtime.start(launch))
    expect(args().slice(-1)).toEqual(['--resume=old-1'])
  })

  it('can be told something while it works, as a line that asks for no answer of its own', async () => {
    const { runtime, launch, noted } = stage("say(answer); note('heard', readLine()); say(result)")
    const agent = runtime.start(launch)
    for await (const { message } of agent.steps) if (message?.type === 'assistant') await agent.tell?.('Land\nnow')
    expect(JSON.parse(noted('heard'))).toEqual({
      type: 'user',
      message: { role: 'user', content: 'Land\nnow' },
      parent_tool_use_id: null,
      client_composed: true,
      shouldQuery: false,
    })
    await expect(agent.tell?.('Too late')).rejects.toThrow('cannot be told')
  })

  it('reads its prompt to the end where a wrapper wants that, and cannot be told anything then', async () => {
    const { runtime, launch, noted } = stage('say(answer, result)', { takesInput: false })
    const agent = runtime.start(launch)
    const refused: unknown[] = []
    for await (const _ of agent.steps) await agent.tell?.('Land').catch((error: unknown) => refused.push(error))
    expect(refused).toHaveLength(2)
    expect(noted('prompt')).toBe('--version\nGo')
    expect(noted('args')).not.toContain('--input-format')
  })

  it('runs in the worktree, with the given variables only', async () => {
    const env = { PATH: process.env.PATH, MARK: 'yes' }
    const { runtime, launch, noted, folder } = stage("note('env', Object.keys(process.env)); say(result)", { env })
    await collect(runtime.start({ ...launch, workspace: { worktreePath: folder, workingDirectory: '/' } }))
    expect(noted('cwd')).toBe(realpathSync(folder))
    expect(noted('env').split(',')).toContain('MARK')
    expect(noted('env')).not.toContain('HOME')
  })

  it('is not disturbed by damaged lines', async () => {
    const { runtime, launch } = stage(`
      process.stdout.write('{"type":"assis\\n\\nnull\\n[1]\\n{"kind":1}\\nhello\\n')
      const line = JSON.stringify(answer) + '\\n'
      process.stdout.write(line.slice(0, 30))
      setTimeout(() => { process.stdout.write(line.slice(30)); process.stdout.write(JSON.stringify(result)) }, 50)`)
    const steps = await collect(runtime.start(launch))
    expect(steps.map(({ message }) => message?.type)).toEqual(['assistant', 'result'])
  })

  it('loses nothing that a slow listener has not heard when it ends', async () => {
    const many = 'for (let i = 0; i < 60; i += 1) say({ ...answer, filler: "x".repeat(1_000) }); say(result)'
    const { runtime, launch } = stage(`${many}; note('done', 1)`)
    const types: unknown[] = []
    for await (const { message } of runtime.start(launch).steps) {
      types.push(message?.type)
      if (types.length === 2) await new Promise((resolve) => setTimeout(resolve, 1_500))
    }
    expect([types.length, types.at(-1)]).toEqual([61, 'result'])
  })

  it('that ends without a result says how, and what it complained about', async () => {
    const { runtime, launch } = stage("console.error('no such flag'); say(answer); process.exitCode = 3")
    expect(await endOfRun(runtime.start(launch))).toEqual({
      type: 'failed',
      message: 'The runtime ended without a result (exit code 3: no such flag).',
    })
  })

  it('keeps the end of a long complaint only', async () => {
    const { runtime, launch } = stage("console.error('x'.repeat(50_000) + 'the end'); process.exitCode = 3")
    const end = await endOfRun(runtime.start(launch))
    expect(end?.type === 'failed' && end.message.length).toBeLessThan(5_000)
    expect(end).toMatchObject({ message: expect.stringContaining('the end') })
  })

  it('is missed when there is no such command, and not mistaken for a missing directory', async () => {
    const { signal } = new AbortController()
    const missing = claudeCommandRuntime({ command: 'no-such-command-here' })
    const steps = collect(missing.start({ prompt: 'Go', signal }))
    await expect(steps).rejects.toMatchObject({ code: 'runtime.missing', cause: { code: 'ENOENT' } })
    await expect(missing.ask?.({ prompt: 'x', providerSessionId: 'old', signal })).rejects.toThrow(/npm install/)
    const { runtime, launch } = stage('say(result)')
    const end = await endOfRun(runtime.start({ ...launch, workspace: { workingDirectory: '/nowhere/at/all' } }))
    expect(end).toMatchObject({ type: 'failed', message: expect.stringContaining('/nowhere/at/all') })
  })

  it('leaves nothing of its group behind once it has ended by itself', async () => {
    const { runtime, launch, isRunning } = stage(`
      note('child', spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }).pid)
      say(result); process.exit()`)
    expect(await endOfRun(runtime.start(launch))).toEqual({ type: 'idle' })
    await until(() => !isRunning('child'))
  })
})

describe('an interrupt', () => {
  it('is SIGINT, and waits for the result', async () => {
    const { runtime, launch, isRunning } = stage(`
      process.on('SIGINT', () => { say({ ...result, subtype: 'error_during_execution', is_error: true }); process.exit(0) })
      ${HANGS}`)
    const agent = runtime.start(launch)
    const steps = []
    for await (const step of agent.steps) {
      steps.push(step)
      if (step.end === undefined) await agent.interrupt()
    }
    expect(steps.map(({ message, end }) => [message?.type, end?.type])).toEqual([
      ['assistant', undefined],
      ['result', 'interrupted'],
    ])
    expect(isRunning()).toBe(false)
  })

  it('ends a command that does not listen, and what it started', { timeout: 600_000 }, async () => {
    const { runtime, launch, isRunning } = stage(`
      process.on('SIGINT', () => {}); process.on('SIGTERM', () => {})
      const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"
      note('child', spawn(process.execPath, ['-e', deaf], { stdio: 'ignore', detached: true }).pid)
      ${HANGS}`)
    const agent = runtime.start(launch)
    const ends = []
    for await (const { end } of agent.steps) {
      ends.push(end?.type)
      await until(() => isRunning('child'))
      await agent.interrupt()
    }
    expect(ends).toEqual([undefined, 'interrupted'])
    expect(isRunning()).toBe(false)
    await until(() => !isRunning('child'))
  })
})

describe('nothing is left running', () => {
  it('after an abort, even while nobody reads', async () => {
    const { runtime, launch, isRunning, stop } = stage(HANGS)
    const steps = runtime.start(launch).steps[Symbol.asyncIterator]()
    await steps.next()
    expect(isRunning()).toBe(true)
    stop.abort()
    await until(() => !isRunning())
    expect((await steps.next()).value?.end).toEqual({ type: 'interrupted' })
    expect((await steps.next()).done).toBe(true)
  })

  it('after the steps were left early', async () => {
    const { runtime, launch, isRunning } = stage(HANGS)
    for await (const _ of runtime.start(launch).steps) break
    expect(isRunning()).toBe(false)
  })

  it('of a question that is aborted', async () => {
    const { runtime, launch, isRunning, stop } = stage(HANGS)
    const asked = runtime.ask?.({ ...launch, providerSessionId: 'old' })
    await until(() => isRunning())
    stop.abort()
    await expect(asked).rejects.toMatchObject({ code: 'runtime.question_failed' })
    expect(isRunning()).toBe(false)
  })
})

describe('a question', () => {
  it('resumes the old session, with nothing to use and nothing to change', async () => {
    const { runtime, launch, noted } = stage('say(answer, result)', {
      args: ['--dangerously-skip-permissions', '--mcp-config', 'servers.json'],
      permissionMode: 'bypassPermissions',
      settings: { theme: 'dark' },
      autoCompact: true,
      model: 'opus',
    })
    const reply = await runtime.ask?.({ ...launch, providerSessionId: 'old-1' })
    expect(reply?.text).toBe('Half.')
    expect(JSON.parse(noted('args'))).toEqual([
      ...['-p', '--output-format=stream-json', '--verbose', '--resume=old-1', '--model=opus'],
      '--settings={"theme":"dark","autoCompactEnabled":false,"disableAllHooks":true}',
      ...['--tools=', '--strict-mcp-config', '--max-turns=1', '--permission-mode=dontAsk', '--no-session-persistence'],
    ])
  })

  it.each([
    ['{ is_error: true, result: "Prompt is too long" }', 'runtime.prompt_too_long'],
    ['{ subtype: "error_max_turns", is_error: true, terminal_reason: "max_turns" }', 'runtime.no_words'],
    ['{ is_error: true, result: "API Error: 500" }', 'runtime.question_failed'],
  ])('that ends with %s is rejected', async (more, code) => {
    const { runtime, launch } = stage(`say(answer, { ...result, ...${more} })`)
    await expect(runtime.ask?.({ ...launch, providerSessionId: 'old' })).rejects.toMatchObject({ code })
  })
})

describe('lines of JSON', () => {
  const read = async (chunks: readonly string[], most?: number) => {
    const found = []
    const stream = (async function* () {
      yield* chunks
    })()
    for await (const value of jsonLines(stream, most)) found.push(value)
    return found
  }

  it('are put together from any pieces', async () => {
    expect(await read(['{"a"', ':1}\n{"b":', '2}', '\n', '{"c":3}'])).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }])
    expect(await read(['{"a":1}\r\n{"b":2}\r\n'])).toEqual([{ a: 1 }, { b: 2 }])
  })

  it('are dropped when they are far too long, however they come', async () => {
    const long = `{"a":"${'x'.repeat(50)}"}`
    expect(await read([`${long}\n{"b":2}\n`], 20)).toEqual([{ b: 2 }])
    expect(await read([...`${long}\n{"b":2}`], 20)).toEqual([{ b: 2 }])
  })
})
