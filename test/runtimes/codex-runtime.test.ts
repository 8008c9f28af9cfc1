import { getEventListeners } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadCodexSdk } from '../../src/adapters/codex/runtime/codex-sdk.ts'
import { type CodexRuntimeOptions, codexRuntime } from '../../src/entry/codex.ts'
import {
  all,
  call,
  completed,
  fakeCodex,
  hang,
  item,
  message,
  rolloutPath,
  type Script,
  type Step,
  started,
  THREAD,
  temporaryHome,
  tokenCount,
  write,
} from '../support/fake-codex.ts'

const launch = { prompt: 'Do it.', signal: new AbortController().signal }

const setUp = (script: (home: string) => Script, options: CodexRuntimeOptions = {}) => {
  const home = temporaryHome()
  const fake = fakeCodex(script(home))
  return { home, fake, runtime: codexRuntime({ ...options, sdk: fake.sdk, home }) }
}

const texts = (steps: readonly Step[]) =>
  steps.flatMap((step) => step.texts.map(({ role, text }) => `${role}: ${text}`))
const types = (steps: readonly Step[]) =>
  steps.flatMap(({ message: said, events }) => [...events.map(({ type }) => type), ...(said ? [`<${said.type}>`] : [])])

describe('a run of Codex', () => {
  it('is told by its rollout, each record before the event that it led to, and nothing twice', async () => {
    const { runtime } = setUp((home) => [
      started,
      { type: 'turn.started' },
      () => write(rolloutPath(home), message('user', 'Do it.'), call('call_1')),
      item('item.started', { type: 'command_execution' }),
      item('item.completed', { type: 'command_execution', aggregated_output: 'done' }),
      () => write(rolloutPath(home), tokenCount(900, 10, [900, 10]), message('assistant', 'Done.')),
      item('item.completed', { type: 'agent_message', text: 'Done.' }),
      () => write(rolloutPath(home), tokenCount(1_000, 20, [1_900, 30])),
      completed(1_900, 30),
    ])
    const steps = await all(runtime.start(launch))
    expect(types(steps)).toEqual([
      ...['thread', '<thread.started>', '<turn.started>', 'tool_call', '<item.started>', '<item.completed>'],
      ...['window', 'request', '<item.completed>', 'window', 'request', '<turn.completed>'],
    ])
    expect(texts(steps)).toEqual(['user: Do it.', 'assistant: Done.'])
    expect(steps.map(({ providerSessionId }) => providerSessionId).filter(Boolean)).toEqual([THREAD])
    expect(steps.flatMap(({ totals = [] }) => totals)).toEqual([
      { inputTokens: 900, outputTokens: 10 },
      { inputTokens: 1_900, outputTokens: 30 },
      { inputTokens: 1_900, outputTokens: 30 },
    ])
    expect(steps.flatMap(({ end = [] }) => end)).toEqual([{ type: 'idle' }])
    expect(steps.at(-1)?.end).toEqual({ type: 'idle' })
  })

  it('is told by what the rollout gains after the last event too, and by one that comes late', async () => {
    const { runtime } = setUp((home) => [
      started,
      item('item.completed', { text: 'Done.' }),
      completed(900, 10),
      () =>
        void setTimeout(
          () => write(rolloutPath(home), message('assistant', 'Done.'), tokenCount(900, 10, [900, 10])),
          200,
        ),
    ])
    const steps = await all(runtime.start(launch))
    expect(texts(steps)).toEqual(['assistant: Done.'])
    expect(types(steps)).toContain('request')
    expect(types(steps)).not.toContain('unmetered')
  })

  it('is told by its events when there is no rollout, without a reading', async () => {
    const { runtime } = setUp(() => [
      started,
      item('item.started', { type: 'command_execution' }),
      item('item.completed', { type: 'command_execution', aggregated_output: 'done' }),
      item('item.completed', { id: 'item_1', text: 'Done.' }),
      completed(900, 10),
    ])
    const steps = await all(runtime.start(launch))
    expect(texts(steps)).toEqual(['user: Do it.', 'tool: done', 'assistant: Done.'])
    const events = steps.flatMap((step) => step.events)
    expect(new Set(events.flatMap((event) => (event.type === 'tool_call' ? [event.callId] : [])))).toEqual(
      new Set(['item_0']),
    )
    expect(events.map(({ type }) => type)).not.toContain('request')
    expect(steps.at(-1)?.end).toEqual({ type: 'idle' })
  })

  it('continues where its rollout ended, and counts what is new', async () => {
    const { runtime, home, fake } = setUp((at) => [
      started,
      () =>
        write(rolloutPath(at, THREAD, '2020/01/02'), message('assistant', 'New.'), tokenCount(1_000, 20, [6_000, 80])),
      completed(6_000, 80),
    ])
    write(rolloutPath(home, THREAD, '2020/01/02'), message('assistant', 'Old.'), tokenCount(900, 10, [5_000, 60]))
    for (const day of ['03', '04', '05']) write(rolloutPath(home, 'another', `2020/01/${day}`), {})
    const steps = await all(runtime.resume({ ...launch, providerSessionId: THREAD }))
    expect(texts(steps)).toEqual(['assistant: New.'])
    expect(steps.flatMap(({ totals = [] }) => totals).at(-1)).toEqual({ inputTokens: 1_000, outputTokens: 20 })
    expect(fake.threads).toEqual([{ id: THREAD, options: {} }])
  })

  it('counts nothing when it is resumed and nobody knows what it had used', async () => {
    const { runtime } = setUp(() => [started, completed(6_000, 80)])
    const steps = await all(runtime.resume({ ...launch, providerSessionId: THREAD }))
    expect(steps.flatMap(({ totals = [] }) => totals)).toEqual([])
  })
})

describe('the end of a run', () => {
  const failed = (text: string): Script[number] => ({ type: 'turn.failed', error: { message: text } })
  const exits = (text: string) => () => Promise.reject(new Error(text))
  const overflow = "Codex ran out of room in the model's context window. Start a new thread."

  it.each<[string, Script, object]>([
    [
      'an overflow',
      [failed(overflow), exits('Codex Exec exited with code 1: ')],
      { type: 'overflow', message: overflow },
    ],
    ['an overflow', [failed('Your input is too long.')], { type: 'overflow', message: 'Your input is too long.' }],
    ['a failure', [failed('File name too long')], { type: 'failed', message: 'File name too long' }],
    ['a failure', [{ type: 'error', message: 'No key' }, exits('exited')], { type: 'failed', message: 'No key' }],
    [
      'a failure',
      [exits('Codex Exec exited with code 1: x')],
      { type: 'failed', message: 'Codex Exec exited with code 1: x' },
    ],
    ['a failure', [], { type: 'failed', message: 'Codex ended without an answer' }],
    ['an interruption', [exits('Codex Exec exited with signal SIGTERM: ')], { type: 'interrupted' }],
    ['rest', [{ type: 'error', message: 'Reconnecting... 1/5' }, completed(1, 1)], { type: 'idle' }],
  ])('is %s', async (_, script, end) => {
    const { runtime, home } = setUp(() => [started, ...script])
    write(rolloutPath(home), message('user', 'Do it.'))
    const steps = await all(runtime.start(launch))
    expect(steps.at(-1)?.end).toEqual(end)
    expect(texts(steps)).toEqual(['user: Do it.'])
  })

  it('has the code of what was thrown', async () => {
    const { runtime } = setUp(() => [() => Promise.reject(Object.assign(new Error('spawn'), { code: 'ENOENT' }))])
    expect(await all(runtime.start(launch))).toEqual([
      { events: [], texts: [], end: { type: 'failed', message: 'spawn', code: 'ENOENT' } },
    ])
  })

  it('is an interruption when it is interrupted or aborted, and nothing is left', async () => {
    for (const by of ['interrupt', 'signal']) {
      const { runtime, fake, home } = setUp(() => [started, { type: 'turn.started' }, hang])
      write(rolloutPath(home), tokenCount(900, 10, [900, 10]))
      const aborter = new AbortController()
      const run = runtime.start({ ...launch, signal: aborter.signal })
      setTimeout(() => (by === 'signal' ? aborter.abort() : void run.interrupt()), 50)
      const steps = await all(run)
      expect(steps.at(-1)?.end).toEqual({ type: 'interrupted' })
      expect(types(steps)).toContain('request')
      expect(fake.runs[0]?.isGone).toBe(true)
    }
  })

  it('comes at once when it was aborted before, and nothing is started', async () => {
    const { runtime, fake } = setUp(() => [started])
    expect(await all(runtime.start({ ...launch, signal: AbortSignal.abort() }))).toEqual([
      { events: [], texts: [], end: { type: 'interrupted' } },
    ])
    expect(fake.codex).toEqual([])
  })

  it('leaves no process behind when its steps are left early', async () => {
    const { runtime, fake } = setUp(() => [started, { type: 'turn.started' }, hang])
    for await (const _ of runtime.start(launch).steps) break
    expect(fake.runs[0]?.signal?.aborted).toBe(true)
    expect(fake.runs[0]?.isGone).toBe(true)
  })

  it('is not aborted afterwards, when nobody would handle it', async () => {
    const aborter = new AbortController()
    const { runtime, fake } = setUp(() => [() => Promise.reject(new Error('Failed to parse item'))])
    const run = runtime.start({ ...launch, signal: aborter.signal })
    await all(run)
    await run.interrupt()
    expect(getEventListeners(aborter.signal, 'abort')).toEqual([])
    aborter.abort()
    expect(fake.runs[0]?.signal?.aborted).toBe(false)
  })
})

describe('what Codex is given', () => {
  it('is the options, with the model and the directory of the launch before them', async () => {
    const { runtime, fake, home } = setUp(() => [started, completed(1, 1)], {
      codex: { apiKey: 'key', env: { PATH: '/bin' } },
      thread: { model: 'a', sandboxMode: 'workspace-write', workingDirectory: '/c' },
    })
    write(rolloutPath(home), {})
    await all(runtime.start({ ...launch, model: 'b', workspace: { workingDirectory: '/d', worktreePath: '/w' } }))
    expect(fake.codex).toEqual([{ apiKey: 'key', env: { PATH: '/bin', CODEX_HOME: home } }])
    expect(fake.threads).toEqual([{ options: { model: 'b', sandboxMode: 'workspace-write', workingDirectory: '/w' } }])
    expect(fake.runs.map(({ input }) => input)).toEqual(['Do it.'])
  })

  it('is none of our secrets, if it is not said what', async () => {
    vi.stubEnv('A_SECRET_OF_OURS', 'secret')
    vi.stubEnv('HTTPS_PROXY', 'http://user:secret@proxy')
    vi.stubEnv('NO_PROXY', 'localhost')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { runtime, fake, home } = setUp(() => [started, completed(1, 1)])
    write(rolloutPath(home), {})
    await all(runtime.start(launch))
    expect(fake.codex[0]?.env).toMatchObject({ PATH: process.env.PATH, NO_PROXY: 'localhost', CODEX_HOME: home })
    expect(JSON.stringify(fake.codex)).not.toContain('secret')
  })

  it.each<[string, (home: string) => Record<string, string>]>([
    ['CODEX_HOME', (home) => ({ CODEX_HOME: join(home, '.codex'), HOME: '/elsewhere' })],
    ['HOME', (home) => ({ HOME: home })],
  ])('leads to its rollouts by %s', async (_, env) => {
    const home = temporaryHome()
    const { sdk } = fakeCodex([started, completed(1, 1)])
    write(rolloutPath(join(home, '.codex')), message('assistant', 'Done.'))
    expect(texts(await all(codexRuntime({ sdk, codex: { env: env(home) } }).start(launch)))).toEqual([
      'assistant: Done.',
    ])
  })

  it('is missing when its package is not installed, which is said', async () => {
    await expect(loadCodexSdk('batonpass-no-such-package')).rejects.toMatchObject({
      code: 'runtime.missing',
      message: expect.stringMatching(/@openai\/codex-sdk.*optional.*npm install @openai\/codex-sdk/),
      cause: expect.objectContaining({ code: 'ERR_MODULE_NOT_FOUND' }),
    })
  })
})

describe('a thread of Codex', () => {
  it('is there once something was said in it', async () => {
    const { runtime, home } = setUp(() => [])
    const has = () => runtime.has({ providerSessionId: THREAD })
    expect(await has()).toBe(false)
    write(rolloutPath(home), { type: 'session_meta', payload: { id: THREAD } })
    expect(await has()).toBe(false)
    write(rolloutPath(home), message('user', 'Do it.'))
    expect(await has()).toBe(true)
  })

  const question = { ...launch, providerSessionId: THREAD, prompt: 'How is it going?' }

  it('answers what it is asked, with as little as it can be given', async () => {
    const { runtime, fake, home } = setUp(
      (at) => [
        started,
        () => write(rolloutPath(at), message('assistant', 'Well…'), message('assistant', 'It is going well.')),
        completed(2_000, 30),
      ],
      {
        codex: { env: {}, config: { mcp_servers: { files: { command: 'x' } } }, configOverrides: ['a=1'] },
        thread: { sandboxMode: 'danger-full-access', approvalPolicy: 'on-request', model: 'a' },
      },
    )
    write(rolloutPath(home), message('assistant', 'Old.'), tokenCount(900, 10, [900, 10]))
    expect(await runtime.ask(question)).toEqual({
      text: 'It is going well.',
      totals: { inputTokens: 1_100, outputTokens: 20 },
    })
    expect(fake.threads).toEqual([
      {
        id: THREAD,
        options: expect.objectContaining({ sandboxMode: 'read-only', approvalPolicy: 'never', model: 'a' }),
      },
    ])
    const overrides = fake.codex[0]?.configOverrides
    expect(overrides).toEqual(
      expect.arrayContaining(['features.shell_tool=false', 'agents.max_depth=0', 'mcp_servers.files.enabled=false']),
    )
    expect(overrides?.[0]).toBe('a=1')
  })

  it.each<[string, Script, RegExp, string]>([
    [
      'uses a tool',
      [item('item.started', { type: 'mcp_tool_call', tool: 'send' }), hang],
      /the tool send/,
      'runtime.no_words',
    ],
    ['says nothing', [completed(1, 1)], /said nothing/, 'runtime.no_words'],
    ['fails', [{ type: 'turn.failed', error: { message: 'No key' } }], /No key/, 'runtime.question_failed'],
  ])('gives no answer when it %s', async (_, script, says, code) => {
    const { runtime, fake, home } = setUp(() => [started, ...script])
    write(rolloutPath(home), message('assistant', 'Old.'))
    await expect(runtime.ask(question)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(says),
    })
    expect(fake.runs[0]?.isGone).toBe(true)
  })

  it('gives no answer when it is aborted', async () => {
    const { runtime } = setUp(() => [started, hang])
    const signal = AbortSignal.timeout(50)
    await expect(runtime.ask({ ...question, signal })).rejects.toMatchObject({ code: 'runtime.question_failed' })
  })
})
