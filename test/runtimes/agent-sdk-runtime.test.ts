import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AgentSdkRuntimeOptions, agentSdkRuntime } from '../../src/adapters/claude/runtime/agent-sdk-runtime.ts'
import { loadAgentSdk } from '../../src/adapters/claude/runtime/sdk-module.ts'
import { answer, collect, endOfRun, result, type Sent, until } from './claude-messages.ts'
import { type FakeControls, FakeSdk, type Play } from './fake-sdk.ts'

const says = (...messages: readonly Sent[]): Play =>
  async function* () {
    yield* messages
  }

const stage = (play: Play, options: AgentSdkRuntimeOptions<Sent> = {}, controls: FakeControls = {}) => {
  const sdk = new FakeSdk(play, controls)
  const stop = new AbortController()
  return { sdk, stop, runtime: agentSdkRuntime({ sdk, ...options }), launch: { prompt: 'Go', signal: stop.signal } }
}

describe('a start', () => {
  it('passes every message on, with what it means', async () => {
    const { runtime, launch, sdk } = stage(says(answer('msg_1', 'Half.'), answer('msg_2', 'Whole.'), result()))
    expect(sdk.queries).toEqual([])
    const steps = await collect(runtime.start({ ...launch, providerSessionId: 'session-1' }))
    expect(steps.map(({ message }) => message?.type)).toEqual(['assistant', 'assistant', 'result'])
    expect(steps.map(({ providerSessionId }) => providerSessionId)).toEqual(['session-1', 'session-1', 'session-1'])
    expect(steps[0]?.texts).toEqual([{ role: 'assistant', text: 'Half.', id: 'msg_1' }])
    expect(steps[0]?.events).toMatchObject([
      { type: 'request', promptTokens: 325, outputTokens: 7 },
      { type: 'answer_text', request: 'msg_1', characters: 5 },
    ])
    expect(steps.map(({ end }) => end)).toEqual([undefined, undefined, { type: 'idle' }])
    expect(sdk.only.options.sessionId).toBe('session-1')
    expect(sdk.only.prompts.map(({ message }) => message.content)).toEqual(['Go'])
  })

  it('can be told something while it works, which asks for no answer of its own', async () => {
    const { runtime, launch, sdk } = stage(async function* (query) {
      yield answer('msg_1', 'Half.')
      while (query.prompts.length < 2) await new Promise((resolve) => setImmediate(resolve))
      yield result()
    })
    const agent = runtime.start(launch)
    for await (const { message } of agent.steps) if (message?.type === 'assistant') await agent.tell?.('Land now')
    await sdk.only.inputEnd
    expect(sdk.only.prompts).toEqual([
      expect.objectContaining({ message: { role: 'user', content: 'Go' } }),
      {
        type: 'user',
        message: { role: 'user', content: 'Land now' },
        parent_tool_use_id: null,
        client_composed: true,
        shouldQuery: false,
      },
    ])
    expect(sdk.only.prompts[0]).not.toHaveProperty('shouldQuery')
    await expect(agent.tell?.('Too late')).rejects.toThrow('cannot be told')
  })

  const delta = { type: 'stream_event', session_id: 'session-1', parent_tool_use_id: null }
  const PARTS = [
    { ...delta, event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ha' } } },
    { ...delta, event: { type: 'message_delta', usage: { output_tokens: 15_000 } } },
  ]

  it('reads the parts of an answer for its final count, and keeps them to itself', async () => {
    const { runtime, launch, sdk } = stage(says(answer('msg_1', 'Half.'), ...PARTS, result()))
    const steps = await collect(runtime.start(launch))
    expect(sdk.only.options.includePartialMessages).toBe(true)
    expect(steps.map(({ message }) => message?.type)).toEqual(['assistant', undefined, 'result'])
    expect(steps[1]?.events).toMatchObject([{ type: 'answered', outputTokens: 15_000 }])
  })

  it.each([{ includePartialMessages: true }, { options: { includePartialMessages: true } }])(
    'passes them on to whoever wants them: %j',
    async (options) => {
      const { runtime, launch } = stage(says(answer('msg_1', 'Half.'), ...PARTS, result()), options)
      const steps = await collect(runtime.start(launch))
      expect(steps.map(({ message }) => message?.type)).toEqual([
        ...['assistant', 'stream_event', 'stream_event', 'result'],
      ])
    },
  )

  it('keeps its input open until the result, and then closes all', async () => {
    let wasOpen = false
    const { runtime, launch, sdk } = stage(async function* ({ inputEnd }) {
      const later = new Promise<boolean>((resolve) => setTimeout(resolve, 30, true))
      wasOpen = await Promise.race([inputEnd.then(() => false), later])
      yield result()
      await inputEnd
    })
    expect(await endOfRun(runtime.start(launch))).toEqual({ type: 'idle' })
    expect(wasOpen).toBe(true)
    await sdk.only.inputEnd
    expect(sdk.only.closes).toBe(1)
  })

  it('closes its input with the result, even when nobody reads on', async () => {
    const { runtime, launch, sdk } = stage(says(result()))
    const steps = runtime.start(launch).steps[Symbol.asyncIterator]()
    expect((await steps.next()).value?.end).toEqual({ type: 'idle' })
    await sdk.only.inputEnd
    expect(sdk.only.closes).toBe(0)
    await steps.return?.()
    expect(sdk.only.closes).toBe(1)
  })

  it('does not take what the runtime wrote in its place for words of the agent', async () => {
    const local = answer('x', 'API Error: 500', { model: '<synthetic>' })
    const { runtime, launch } = stage(says(local, result()))
    expect((await collect(runtime.start(launch))).flatMap(({ texts }) => texts)).toEqual([])
  })

  it('works in the worktree, else in the directory, else where its options say', async () => {
    const [worktreePath, workingDirectory] = [tmpdir(), process.cwd()]
    const cwdFor = async (workspace: object) => {
      const { runtime, launch, sdk } = stage(says(result()), { options: { cwd: '/given', maxBudgetUsd: 3 } })
      await collect(runtime.start({ ...launch, workspace }))
      expect(sdk.only.options.maxBudgetUsd).toBe(3)
      return sdk.only.options.cwd
    }
    expect(await cwdFor({ worktreePath, workingDirectory })).toBe(worktreePath)
    expect(await cwdFor({ workingDirectory })).toBe(workingDirectory)
    const { runtime, launch, sdk } = stage(says(result()), { options: { cwd: tmpdir() } })
    await collect(runtime.start(launch))
    expect(sdk.only.options.cwd).toBe(tmpdir())
  })

  it('says so when its directory is not there', async () => {
    const { runtime, launch, sdk } = stage(says(result()))
    const end = await endOfRun(runtime.start({ ...launch, workspace: { workingDirectory: '/nowhere/at/all' } }))
    expect(end).toEqual({ type: 'failed', message: 'The working directory /nowhere/at/all does not exist.' })
    expect(sdk.queries).toEqual([])
  })

  it('takes the model of the launch before its own', async () => {
    const { runtime, launch, sdk } = stage(says(result()), { model: 'opus', includePartialMessages: true })
    await collect(runtime.start(launch))
    await collect(runtime.start({ ...launch, model: 'haiku' }))
    expect(sdk.queries.map(({ options }) => options.model)).toEqual(['opus', 'haiku'])
    expect(sdk.queries[0]?.options.includePartialMessages).toBe(true)
  })

  it('leaves compaction alone, or switches it off beside the given settings', async () => {
    const optionsOf = async (options: AgentSdkRuntimeOptions<Sent>) => {
      const { runtime, launch, sdk } = stage(says(result()), options)
      await collect(runtime.start(launch))
      return sdk.only.options
    }
    expect(await optionsOf({})).not.toHaveProperty('settings')
    expect((await optionsOf({ autoCompact: false, options: { settings: { theme: 'dark' } } })).settings).toEqual({
      theme: 'dark',
      autoCompactEnabled: false,
    })
    const byFile = await optionsOf({ autoCompact: false, options: { settings: './settings.json', env: { A: '1' } } })
    expect(byFile.settings).toBe('./settings.json')
    expect(byFile.env).toEqual({ A: '1', DISABLE_AUTO_COMPACT: '1', CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '100000000' })
  })

  it('resumes a session without copying it', async () => {
    const { runtime, launch, sdk } = stage(says(result()))
    await collect(runtime.resume?.({ ...launch, providerSessionId: 'old' }) ?? runtime.start(launch))
    expect(sdk.only.options).toMatchObject({ resume: 'old' })
    expect(sdk.only.options).not.toHaveProperty('sessionId')
    expect(sdk.only.options).not.toHaveProperty('forkSession')
  })
})

describe('an end', () => {
  it('without a result is a failure that says why', async () => {
    const { runtime, launch } = stage(says(answer('msg_1', 'Half.')))
    expect(await endOfRun(runtime.start(launch))).toEqual({
      type: 'failed',
      message: 'The runtime ended without a result.',
    })
    // biome-ignore lint/correctness/useYield: it throws before it says anything
    const thrown = stage(async function* () {
      throw new Error('spawn failed')
    })
    expect(await endOfRun(thrown.runtime.start(thrown.launch))).toEqual({
      type: 'failed',
      message: 'The runtime ended without a result (spawn failed).',
    })
  })

  it('does not wait for ever for a query that continues after its result', { timeout: 600_000 }, async () => {
    const { runtime, launch, sdk } = stage(async function* ({ stopped }) {
      yield result()
      await stopped
    })
    expect(await endOfRun(runtime.start(launch))).toEqual({ type: 'idle' })
    expect(sdk.only.closes).toBe(1)
  })
})

describe('an interrupt', () => {
  it('ends the steps as interrupted', async () => {
    const { runtime, launch, sdk } = stage(async function* ({ stopped }) {
      yield answer('msg_1', 'Half.')
      await stopped
      yield result({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' })
    })
    const agent = runtime.start(launch)
    const ends = []
    for await (const { end, message } of agent.steps) {
      ends.push(end)
      if (message?.type === 'assistant') await agent.interrupt()
    }
    expect(ends).toEqual([undefined, { type: 'interrupted' }])
    expect(sdk.only.interrupts).toBe(1)
  })

  it('never throws, before, during or after', async () => {
    const controls = { interrupt: () => Promise.reject(new Error('not now')) }
    const { runtime, launch, sdk } = stage(says(answer('msg_1', 'Half.'), result()), {}, controls)
    const agent = runtime.start(launch)
    for await (const { message } of agent.steps) if (message?.type === 'assistant') await agent.interrupt()
    await agent.interrupt()
    expect(sdk.only.interrupts).toBe(1)
    const early = runtime.start(launch)
    await early.interrupt()
    expect(await endOfRun(early)).toEqual({ type: 'interrupted' })
    expect(sdk.queries).toHaveLength(1)
  })

  it('is made good when the runtime does not listen', { timeout: 600_000 }, async () => {
    const controls = { interrupt: () => new Promise<void>(() => {}) }
    const { runtime, launch, sdk } = stage(
      async function* ({ stopped }) {
        yield answer('msg_1', 'Half.')
        await stopped
      },
      {},
      controls,
    )
    const agent = runtime.start(launch)
    const ends = []
    for await (const { end } of agent.steps) {
      ends.push(end?.type)
      if (end === undefined) void agent.interrupt()
    }
    expect(ends).toEqual([undefined, 'interrupted'])
    expect(sdk.only.closes).toBeGreaterThan(0)
  })

  it('that comes after a whole answer leaves it an answer', async () => {
    const { runtime, launch } = stage(says(answer('msg_1', 'Whole.'), result()))
    const agent = runtime.start(launch)
    const ends = []
    for await (const { end } of agent.steps) {
      ends.push(end?.type)
      await agent.interrupt()
    }
    expect(ends).toEqual([undefined, 'idle'])
  })
})

describe('an abort', () => {
  const hangs: Play = async function* ({ stopped }) {
    yield answer('msg_1', 'Half.')
    await stopped
  }

  it('ends the steps and closes the query, even while nobody reads', async () => {
    const { runtime, launch, sdk, stop } = stage(hangs)
    const steps = runtime.start(launch).steps[Symbol.asyncIterator]()
    await steps.next()
    stop.abort()
    await until(() => sdk.only.closes > 0)
    expect((await steps.next()).value?.end).toEqual({ type: 'interrupted' })
    expect((await steps.next()).done).toBe(true)
  })

  it('in advance starts nothing', async () => {
    const { runtime, launch, sdk, stop } = stage(hangs)
    stop.abort()
    expect(await endOfRun(runtime.start(launch))).toEqual({ type: 'interrupted' })
    expect(sdk.queries).toEqual([])
  })

  it('is not needed when the steps are left early', async () => {
    const { runtime, launch, sdk } = stage(hangs)
    for await (const _ of runtime.start(launch).steps) break
    expect(sdk.only.closes).toBe(1)
    await sdk.only.inputEnd
  })
})

describe('the window', () => {
  const context = async () => ({ rawMaxTokens: 200_000, autoCompactThreshold: 167_000, isAutoCompactEnabled: true })
  const pausing = (...messages: readonly Sent[]): Play =>
    async function* () {
      for (const message of messages) {
        yield message
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

  it('is asked for once, beside the work', async () => {
    const { runtime, launch, sdk } = stage(pausing(answer('a', '1'), answer('b', '2'), result()), {}, { context })
    const steps = await collect(runtime.start(launch))
    expect(steps.map(({ message }) => message?.type)).toEqual(['assistant', undefined, 'assistant', 'result'])
    expect(steps[1]).toEqual({
      events: [
        { type: 'window', tokens: 200_000 },
        { type: 'auto_compact_at', tokens: 167_000 },
      ],
      texts: [],
    })
    expect(sdk.only.questions).toBe(1)
  })

  it('is asked for once more when another model takes over, and never for a subagent or a local message', async () => {
    const models = ['m-1', '<synthetic>', 'm-1', 'm-2', 'm-3', 'm-1'].map((model, n) => answer(`${n}`, 'x', { model }))
    const subagent = { ...answer('sub', 'x', { model: 'm-4' }), parent_tool_use_id: 'toolu_1' }
    const local = answer('local', 'x', { model: '<synthetic>' })
    const { runtime, launch, sdk } = stage(pausing(...models, result()), {}, { context })
    await collect(runtime.start(launch))
    expect(sdk.only.questions).toBe(2)
    const other = stage(pausing(subagent, local, result()), {}, { context })
    await collect(other.runtime.start(other.launch))
    expect(other.sdk.only.questions).toBe(0)
  })

  it.each([
    ['fails', () => Promise.reject(new Error('no'))],
    ['says nothing', () => new Promise(() => {})],
    ['says nonsense', async () => 'full'],
  ])('is done without when the answer %s', async (_, broken) => {
    const { runtime, launch } = stage(pausing(answer('a', '1'), result()), {}, { context: broken })
    const steps = await collect(runtime.start(launch))
    expect(steps.map(({ message }) => message?.type)).toEqual(['assistant', 'result'])
  })
})

describe('a question', () => {
  const ask = (play: Play, options: AgentSdkRuntimeOptions<Sent> = {}) => {
    const { runtime, launch, sdk } = stage(play, options)
    return { sdk, reply: runtime.ask?.({ ...launch, prompt: '/what is left?', providerSessionId: 'old' }) }
  }

  it('is asked of the old session, with nothing to use and nothing to change', async () => {
    const options = {
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
      allowedTools: ['Bash'],
      mcpServers: { files: {} },
      hooks: { Stop: [] },
      maxTurns: 9,
      env: { A: '1' },
      settings: { theme: 'dark' },
    }
    const { reply, sdk } = ask(says(answer('msg_1', ' Nothing. '), result()), { options, autoCompact: true })
    expect(await reply).toMatchObject({ text: 'Nothing.' })
    const { spawnClaudeCodeProcess: _, ...given } = sdk.only.options
    expect(given).toEqual({
      resume: 'old',
      persistSession: false,
      tools: [],
      allowedTools: [],
      maxTurns: 1,
      permissionMode: 'dontAsk',
      allowDangerouslySkipPermissions: false,
      strictMcpConfig: true,
      env: { A: '1', CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '100000000' },
      settings: { theme: 'dark', autoCompactEnabled: false, disableAllHooks: true },
    })
    expect(sdk.only.prompts).toMatchObject([{ message: { content: '/what is left?' }, client_composed: true }])
  })

  it('copies a session that is kept in a store', async () => {
    const { reply, sdk } = ask(says(answer('msg_1', 'Nothing.'), result()), { options: { sessionStore: {} } })
    await reply
    expect(sdk.only.options).toMatchObject({ forkSession: true, resume: 'old' })
    expect(sdk.only.options).not.toHaveProperty('persistSession')
  })

  it.each<[string, readonly Sent[], object]>([
    [
      'does not fit',
      [
        answer('x', 'Prompt is too long', { model: '<synthetic>' }),
        result({ is_error: true, result: 'Prompt is too long', terminal_reason: 'prompt_too_long' }),
      ],
      { code: 'runtime.prompt_too_long', message: 'Prompt is too long' },
    ],
    [
      'is met with a tool',
      [result({ subtype: 'error_max_turns', is_error: true, terminal_reason: 'max_turns' })],
      { code: 'runtime.no_words', message: 'The session wanted to use a tool, not to answer.' },
    ],
    ['is met with silence', [result()], { code: 'runtime.no_words', message: 'The session said nothing.' }],
    ['is cut off', [answer('msg_1', 'Half')], { code: 'runtime.question_failed' }],
  ])('that %s is rejected', async (_, messages, error) => {
    await expect(ask(says(...messages)).reply).rejects.toMatchObject(error)
  })
})

describe('a session', () => {
  it('is there once it was spoken in, where the environment of the options says', async () => {
    const home = mkdtempSync(join(tmpdir(), 'batonpass-home-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }))
    const project = join(home, '.claude/projects/-work')
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, 'spoken.jsonl'), 'damaged\n{"type":"mode"}\n{"type":"user","isSidechain":false}\n')
    writeFileSync(join(project, 'silent.jsonl'), '{"type":"summary"}\n{"type":"user","isSidechain":true}\n')
    const has = (env: object, id: string) =>
      stage(says(), { options: { env } }).runtime.has?.({ providerSessionId: id })
    expect(await has({ HOME: home }, 'spoken')).toBe(true)
    expect(await has({ CLAUDE_CONFIG_DIR: join(home, '.claude') }, 'spoken')).toBe(true)
    expect(await has({ HOME: home, CLAUDE_CONFIG_DIR: join(home, 'other') }, 'spoken')).toBe(false)
    expect(await has({ HOME: home }, 'silent')).toBe(false)
    expect(await has({ HOME: home }, 'unknown')).toBe(false)
    expect(await has({ HOME: home }, '../-work/spoken')).toBe(false)
  })

  it('is there for the directory it worked in, and gone for another one, in which it cannot be resumed', async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-home-')))
    onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }))
    const project = join(home, '.claude/projects/-work')
    for (const folder of [project, join(home, 'a/src'), join(home, 'b')]) mkdirSync(folder, { recursive: true })
    symlinkSync(join(home, 'a'), join(home, 'link'))
    const lines = ['a', 'a/src'].map((cwd) => JSON.stringify({ type: 'user', cwd: join(home, cwd) }))
    writeFileSync(join(project, 'spoken.jsonl'), `${lines.join('\n')}\n`)
    const { runtime } = stage(says(), { options: { env: { HOME: home } } })
    const hasIn = (folder: string) =>
      runtime.has?.({ providerSessionId: 'spoken', workspace: { workingDirectory: join(home, folder) } })
    expect(await hasIn('a')).toBe(true)
    expect(await hasIn('link')).toBe(true)
    expect(await hasIn('b')).toBe(false)
    expect(await hasIn('nowhere')).toBe(false)
  })
})

describe('the package', () => {
  it('is said to be missing, by name, with how to get it', async () => {
    const cause = new Error('not found')
    const loading = loadAgentSdk(() => Promise.reject(cause))
    await expect(loading).rejects.toMatchObject({ code: 'runtime.missing', cause })
    await expect(loading).rejects.toThrow(/optional.*npm install @anthropic-ai\/claude-agent-sdk/)
  })

  it('is not needed before it is used, and is missed by steps and questions alike', async () => {
    const runtime = agentSdkRuntime()
    const { signal } = new AbortController()
    const agent = runtime.start({ prompt: 'Go', signal })
    await expect(collect(agent)).rejects.toMatchObject({ code: 'runtime.missing' })
    const asked = runtime.ask?.({ prompt: 'What is left?', providerSessionId: 'old', signal })
    await expect(asked).rejects.toMatchObject({ code: 'runtime.missing' })
  })
})
