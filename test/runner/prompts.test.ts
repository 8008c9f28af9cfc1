import { beforeEach, describe, expect, it } from 'vitest'
import { codexRuntime } from '../../src/entry/codex.ts'
import { type AgentRuntime, type Batonpass, createBatonpass, functionRuntime } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedRuntime, StoreUnderTest } from '../../src/entry/testing.ts'
import {
  call,
  completed,
  fakeCodex,
  hang,
  item,
  message,
  output,
  rolloutPath,
  type Script,
  started,
  temporaryHome,
  tokenCount,
  write,
} from '../support/fake-codex.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps } from '../support/meddled-store.ts'
import { openStore } from '../support/stores.ts'
import { ENDS, FILLS, play, recorded, script, spoken, TASK, turn } from './played.ts'

const KEY = 'prompts'
const ASKED = 'Also update the docs'
const LEASE_MS = 60

let store: Store
let passTime: StoreUnderTest['passTime']
let batonpass: Batonpass

beforeEach(async () => {
  ;({ store, passTime } = await openStore('memory'))
  batonpass = await createBatonpass({ store })
})

type Kept = Parameters<typeof keeps>[1]

/** Runs until the process is lost after it has kept this, and lets its lease expire. */
const loseAfter = async (runtime: AgentRuntime, kept: Kept, more: { readonly resume?: string } = {}) => {
  const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, kept), { stillReads: true })
  const doomed = await createBatonpass({ store: last })
  const about = {
    runtime,
    agent: 'claude',
    prompt: TASK,
    conversation: KEY,
    policy: 'auto',
    leaseMs: LEASE_MS,
  } as const
  void doomed.run({ ...about, ...more }).finish()
  await lost
  await passTime(LEASE_MS + 1)
}

const three = () => script([{ turns: [turn(100, 'a'), turn(200, 'b'), turn(300)] }])

const count = (texts: readonly string[], part: string): number => texts.filter((text) => text.includes(part)).length

const prompts = ({ launches }: ScriptedRuntime): readonly string[] => launches.map(({ prompt }) => prompt)

describe('a new prompt on a conversation whose process died', () => {
  it('while it worked reaches the agent, and is recorded once', async () => {
    const runtime = three()
    await loseAfter(runtime, 'turn.recorded')
    const { summary } = await play(batonpass, runtime, { conversation: KEY, prompt: ASKED })
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 1 })
    expect(runtime.launches.map(({ how }) => how)).toEqual(['start', 'resume'])
    expect(prompts(runtime)[1]).toContain(ASKED)
    const texts = await spoken(store, summary)
    expect([count(texts, ASKED), count(texts, TASK)]).toEqual([1, 1])
  })

  it.each(['handoff.checkpointed', 'handoff.prepared', 'handoff.completed'] as const)(
    'in the middle of a restart (%s) reaches the successor, and is recorded once',
    async (kept) => {
      const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
      await loseAfter(runtime, kept)
      const { summary } = await play(batonpass, runtime, { conversation: KEY, prompt: ASKED })
      expect(summary.outcome).toBe('completed')
      expect(prompts(runtime).at(-1)).toMatch(new RegExp(`Half\\..*${ASKED}$`, 's'))
      expect((await spoken(store, summary)).filter((text) => text === `user: ${ASKED}`)).toHaveLength(1)
    },
  )

  it('before it was launched stands after what it was to open with', async () => {
    const runtime = three()
    await loseAfter(runtime, 'session.started')
    const { summary } = await play(batonpass, runtime, { conversation: KEY, prompt: ASKED })
    expect(prompts(runtime).at(-1)).toBe(`${TASK}\n\n${ASKED}`)
    expect(count(await spoken(store, summary), ASKED)).toBe(1)
  })

  it('and the same prompt is not said twice', async () => {
    const runtime = three()
    await loseAfter(runtime, 'turn.recorded')
    const { summary } = await play(batonpass, runtime, { conversation: KEY })
    expect(prompts(runtime)[1]).not.toContain(TASK)
    expect(count(await spoken(store, summary), TASK)).toBe(1)
  })
})

describe('a session that was cancelled', () => {
  it('has the prompt that resumes it in its record, before the answer', async () => {
    const runtime = three()
    let messages = 0
    for await (const _ of batonpass.run({ runtime, agent: 'claude', prompt: TASK, conversation: KEY })) {
      messages += 1
      if (messages === 3) break
    }
    const { summary } = await play(batonpass, runtime, { conversation: KEY, prompt: ASKED })
    expect(prompts(runtime)).toEqual([TASK, ASKED])
    expect(await spoken(store, summary)).toEqual([
      `user: ${TASK}`,
      'assistant: At 100.',
      'tool: ok',
      'assistant: At 200.',
      `user: ${ASKED}`,
      'assistant: At 300.',
    ])
  })

  it('is told to continue where it stopped, and not the bare task, when nothing new is asked', async () => {
    const runtime = three()
    let messages = 0
    for await (const _ of batonpass.run({ runtime, agent: 'claude', prompt: TASK, conversation: KEY })) {
      messages += 1
      if (messages === 3) break
    }
    const { summary } = await play(batonpass, runtime, { conversation: KEY })
    expect(prompts(runtime)[1]).toMatch(/^You were stopped here .* Continue where you stopped/)
    expect(count(await spoken(store, summary), TASK)).toBe(1)
    expect(count(await spoken(store, summary), 'Continue where you stopped')).toBe(1)
  })

  it('before it had answered is told the task again: it may never have heard it', async () => {
    const runtime = three()
    const controller = new AbortController()
    const about = { runtime, agent: 'claude', prompt: TASK, conversation: KEY } as const
    const run = batonpass.run({ ...about, signal: controller.signal })
    run.on(({ type }) => {
      if (type === 'session:start') controller.abort()
    })
    await run.finish()
    await play(batonpass, runtime, { conversation: KEY })
    expect(prompts(runtime).at(-1)).toBe(TASK)
  })

  it('between completing and launching opens with the checkpoint when it is resumed', async () => {
    const controller = new AbortController()
    const runtime = script([{ turns: FILLS, checkpoint: 'Half is done.' }, { turns: ENDS }])
    const about = { runtime, agent: 'claude', prompt: TASK, policy: 'auto', conversation: KEY } as const
    const run = batonpass.run({ ...about, signal: controller.signal })
    run.on(({ type }) => {
      if (type === 'context:handoff:complete') controller.abort()
    })
    expect(await run.finish()).toMatchObject({ outcome: 'cancelled', restarts: 1 })
    expect(runtime.launches).toHaveLength(1)
    const { summary } = await play(batonpass, runtime, { conversation: KEY })
    expect(prompts(runtime)[1]).toContain('Half is done.')
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(count(await spoken(store, summary), 'Half is done.')).toBe(1)
  })

  it('keeps what the agent had said by then', async () => {
    const controller = new AbortController()
    const run = batonpass.run({ runtime: three(), agent: 'claude', prompt: TASK, signal: controller.signal })
    for await (const { text } of run) if (text === 'At 200.') controller.abort()
    const summary = await run.summary
    expect(summary).toMatchObject({ outcome: 'cancelled', turns: 2 })
    expect(await spoken(store, summary)).toContain('assistant: At 200.')
  })
})

describe('a run that resumes', () => {
  it('and was killed between start and launch: what it was asked is not lost', async () => {
    const runtime = three()
    const { signal } = new AbortController()
    for await (const { texts } of runtime.start({ prompt: 'Before', providerSessionId: 'old', signal }).steps)
      if (texts.length > 0) break
    // What it was launched with never arrived.
    const unheard: AgentRuntime = {
      backend: runtime.backend,
      takesSessionId: true,
      start: () => Promise.reject(new Error('Not to be started')) as never,
      resume: () => ({
        steps: { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) },
        interrupt: async () => undefined,
      }),
    }
    const { store: last } = lostProcess(store, (unit) => keeps(unit, 'session.started'), { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    const run = doomed.run({ runtime: unheard, agent: 'claude', prompt: ASKED, resume: 'old', leaseMs: LEASE_MS })
    const launched = new Promise<void>((resolve) => {
      run.on(({ type }) => {
        if (type === 'session:start') resolve()
      })
    })
    void run.finish()
    await launched
    await passTime(LEASE_MS + 1)
    const recovered = await batonpass.recover({ runtimes: [runtime] })
    expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed' } }])
    expect(runtime.launches.at(-1)).toMatchObject({ how: 'resume', session: 'old' })
    expect(runtime.launches.at(-1)?.prompt).toContain(ASKED)
  })

  it('on a runtime that cannot is refused before anything is stored', async () => {
    const runtime = script([{ turns: ENDS }], { canResume: false })
    await expect(play(batonpass, runtime, { resume: 'old' })).rejects.toThrow(TypeError)
    expect((await store.conversations.list({}, {})).items).toEqual([])
    expect(runtime.launches).toEqual([])
  })

  it('with the runtime of another backend does not go on in what is not its own', async () => {
    const codex = script([{ turns: [turn(100, 'a'), turn(200, 'b')] }], { backend: 'codex', takesSessionId: false })
    await loseAfter(codex, 'turn.recorded')
    const other = script([{ turns: ENDS }], { backend: 'other' })
    // It cannot say which sessions there are, so nothing but the backend tells it.
    const unknowing = {
      backend: 'other',
      takesSessionId: true,
      start: other.start.bind(other),
      ...(other.resume && { resume: other.resume }),
    }
    const { summary } = await play(batonpass, unknowing, { conversation: KEY })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(other.launches.map(({ how }) => how)).toEqual(['start'])
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state, backend }) => [state, backend])).toEqual([
      ['handed_off', 'codex'],
      ['completed', 'other'],
    ])
  })
})

describe('what is said', () => {
  it('by Codex of the prompt again is recorded once', async () => {
    const home = temporaryHome()
    const { sdk } = fakeCodex([
      started,
      () => write(rolloutPath(home), message('user', TASK), call('call_1')),
      item('item.completed', { type: 'command_execution', aggregated_output: 'done' }),
      () => write(rolloutPath(home), tokenCount(900, 10, [900, 10]), message('assistant', 'Done.')),
      item('item.completed', { type: 'agent_message', text: 'Done.' }),
      () => write(rolloutPath(home), tokenCount(1_000, 20, [1_900, 30])),
      completed(1_900, 30),
    ])
    const { summary } = await play(batonpass, codexRuntime({ sdk, home }))
    const texts = await spoken(store, summary)
    expect(texts.filter((text) => text === `user: ${TASK}`)).toHaveLength(1)
    expect(texts).toContain('assistant: Done.')
  })

  it.each<[string, Script[number]]>([
    ['fails', () => Promise.reject(new Error('No key'))],
    ['is killed', () => Promise.reject(new Error('Codex Exec exited with signal SIGTERM: '))],
    ['is cancelled', hang],
    ['is done', completed(900, 10)],
  ])('of a command that Codex ran, and %s before it says what that used, is recorded', async (_, then) => {
    const home = temporaryHome()
    const { sdk } = fakeCodex([
      started,
      () => write(rolloutPath(home), message('user', TASK), call('call_1'), output('call_1')),
      item('item.completed', { type: 'command_execution', aggregated_output: 'done' }),
      then,
    ])
    const stop = new AbortController()
    const runtime = codexRuntime({ sdk, home })
    const run = batonpass.run({ runtime, agent: 'codex', prompt: TASK, policy: 'auto', signal: stop.signal })
    for await (const said of run) if (said.type === 'item.completed' && then === hang) stop.abort()
    const { conversationId } = await run.summary
    const recorded = await store.messages.findToolCalls(conversationId, ['call_1'])
    expect(recorded.map(({ toolName }) => toolName)).toEqual(['exec_command'])
    expect(await spoken(store, { conversationId })).toEqual([`user: ${TASK}`, 'assistant: ', 'tool: done'])
  })

  it('without readings is recorded all the same', async () => {
    const runtime = functionRuntime<string>({
      backend: 'plain',
      start: async function* () {
        yield 'one'
        yield 'two'
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }] }),
    })
    const { summary } = await play(batonpass, runtime)
    expect(await spoken(store, summary)).toEqual([`user: ${TASK}`, 'assistant: one', 'assistant: two'])
  })

  it('while the agent is being interrupted is passed on, and recorded with the turn that crossed', async () => {
    const answer = (key: string, promptTokens: number) => ({
      message: key,
      events: [
        { type: 'window', tokens: 1_000 } as const,
        { type: 'request', key, promptTokens, outputTokens: 0 } as const,
        { type: 'tool_call', callId: `${key}-call`, toolName: 'edit' } as const,
      ],
      texts: [{ role: 'assistant', text: key } as const],
    })
    const result = { message: 'result', events: [], texts: [{ role: 'tool', text: 'ok' } as const] }
    const end = (type: 'idle' | 'interrupted') => ({ events: [], texts: [], end: { type } })
    const windows = [
      [answer('crossing', 900), result, answer('late', 920), result, end('interrupted')],
      [answer('next', 100), result, end('idle')],
    ]
    const slow: AgentRuntime<string> = {
      backend: 'slow',
      takesSessionId: false,
      start: () => {
        const window = windows.shift() ?? []
        const steps = (async function* () {
          yield* window
        })()
        return { steps, interrupt: async () => undefined }
      },
    }
    const { summary, messages } = await play(batonpass, slow)
    expect(messages).toEqual(['crossing', 'result', 'late', 'result', 'next', 'result'])
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1, turns: 2 })
    const texts = await spoken(store, summary)
    expect(texts).toContain('assistant: crossing')
    expect(texts.slice(1, 5)).toEqual(['assistant: crossing', 'tool: ok', 'assistant: late', 'tool: ok'])
  })
})
