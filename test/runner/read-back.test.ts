import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { claudeCommandRuntime } from '../../src/adapters/claude/runtime/claude-command-runtime.ts'
import { codexRuntime } from '../../src/entry/codex.ts'
import { type AgentRuntime, createBatonpass, functionRuntime, type RunRequest } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { RuntimeStep, TranscriptStep } from '../../src/entry/ports.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { play, recorded, spoken, TASK } from './played.ts'

const KEY = 'read-back'
const LEASE_MS = 1_000

type Said = TranscriptStep & Partial<RuntimeStep<never>>

const answer = (id: string, promptTokens: number, ...calls: readonly string[]): Said => ({
  providerSessionId: 'own-1',
  events: [
    { type: 'window', tokens: 1_000 },
    { type: 'request', key: id, promptTokens, outputTokens: 0 },
    ...calls.map((callId) => ({ type: 'tool_call' as const, callId, toolName: 'edit' })),
  ],
  texts: [{ role: 'assistant', text: `Answer ${id}, the key is hunter2.`, id }],
})
const result = (id: string): Said => ({ events: [], texts: [{ role: 'tool', text: `Result of ${id}.`, id }] })

/** An agent that says all of it when it is launched, and writes it down before it says it; later it is done at once. */
const agent = (first: readonly Said[], heard = first.length) => {
  const launches: string[] = []
  const launched = (how: string) =>
    async function* () {
      launches.push(how)
      yield* launches.length === 1
        ? first.slice(0, heard)
        : [{ ...answer(`${how}-${launches.length}`, 100), providerSessionId: `own-${launches.length}` }]
    }
  const runtime: AgentRuntime = functionRuntime<Said>({
    backend: 'own',
    start: launched('start'),
    resume: launched('resume'),
    has: async () => true,
    read: (said) => said,
    transcript: async function* ({ providerSessionId }) {
      yield { events: [], texts: [{ role: 'user', text: TASK }] }
      if (providerSessionId === 'own-1') for (const { events, texts } of first) yield { events, texts }
    },
  })
  return { runtime, launches }
}

/** Runs until the process is lost after so many commits, and recovers what it left. */
const lostAfter = async (
  commits: number,
  first: readonly Said[],
  heard = first.length,
  more: Partial<RunRequest> = {},
) => {
  const clock = new FixedClock()
  const store = new MemoryStore({ clock })
  const redact = (text: string): string => text.replaceAll('hunter2', '***')
  const { runtime, launches } = agent(first, heard)
  const { store: last, lost } = lostProcess(store, (_, number) => number === commits, { stillReads: true })
  const priceOf = (_: string, { inputTokens }: { readonly inputTokens: number }): number => inputTokens / 100
  const doomed = await createBatonpass({ store: last, redact, clock, priceOf })
  const about = { runtime, agent: 'own', prompt: TASK, conversation: KEY, leaseMs: LEASE_MS }
  const run = doomed.run({ ...about, policy: 'auto', ...more })
  await Promise.race([lost, run.finish().then(() => Promise.reject(new Error('The process was not lost')))])
  clock.advance(LEASE_MS + 100)
  const batonpass = await createBatonpass({ store, redact, clock, priceOf })
  const [recovered] = await batonpass.recover({ runtimes: [runtime], run: { leaseMs: LEASE_MS } })
  if (recovered?.type !== 'resumed') throw new Error(`It was not resumed: ${JSON.stringify(recovered)}`)
  const { summary } = recovered
  expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ value: { intact: true } })
  const texts = (await spoken(store, summary)).filter((text) => !text.startsWith('user'))
  return { store, batonpass, summary, launches, texts, ...(await recorded(batonpass, summary)) }
}

const said = (id: string): string => `assistant: Answer ${id}, the key is ***.`

describe('what an agent did and the record lacks', () => {
  const WORK = [
    answer('a', 100, 'call-1'),
    result('call-1'),
    answer('b', 200, 'call-2'),
    result('call-2'),
    answer('c', 300),
  ]

  /** 1 conversation, 2 session, 3 attached, 4 first turn, 5 second turn. */
  it.each([3, 4, 5])(
    'is read back after a takeover, once, in order and redacted (lost after %i commits)',
    async (commits) => {
      const { texts, sessions, launches, store } = await lostAfter(commits, WORK)
      expect(texts).toEqual([
        ...[said('a'), 'tool: Result of call-1.', said('b'), 'tool: Result of call-2.', said('c'), said('resume-2')],
      ])
      expect(sessions).toMatchObject([{ state: 'completed', progress: { turns: 4 } }])
      expect(launches).toEqual(['start', 'resume'])
      const { items } = await store.messages.listTurns(sessions[0]?.id as never, { limit: 10 })
      expect(items.flatMap(({ toolCalls }) => toolCalls.map(({ callId }) => callId))).toEqual(['call-1', 'call-2'])
      expect(items.slice(0, 3).map(({ usage }) => usage.state === 'metered' && usage.promptTokens)).toEqual([
        100, 200, 300,
      ])
    },
  )

  it('is read back with what others said, once: a person’s where it is marked; not with what we told the agent or its runtime added', async () => {
    const heard = (text: string, origin?: 'runtime' | 'person'): Said => ({
      events: [],
      texts: [{ role: 'user', text, ...(origin && { origin }) }],
    })
    const work = [
      answer('a', 100, 'call-1'),
      result('call-1'),
      heard('No, in British English. The key is hunter2.', 'person'),
      heard('Push to production. The key is hunter2.'),
      heard('A reminder', 'runtime'),
      heard(TASK),
      heard('Reply with the checkpoint alone: <checkpoint></checkpoint>'),
      heard(
        'The process that ran this session was lost, and you continue in it now. Something you began may not have been finished: look at what is there before you repeat a step, then continue the task.',
      ),
      answer('b', 200),
    ]
    const { store, summary } = await lostAfter(4, work)
    const { items } = await store.messages.listMessages(summary.conversationId, { limit: 100 })
    const users = items.filter(({ role }) => role === 'user').map(({ origin, text }) => [origin, text.slice(0, 44)])
    expect(users).toEqual([
      ['person', TASK],
      ['person', 'No, in British English. The key is ***.'],
      ['unknown', 'Push to production. The key is ***.'],
      ['batonpass', expect.stringMatching(/^The process that ran this session was lost/)],
    ])
  })

  it.each([
    ['restarts', 4, { budget: { maxRestarts: 0 } }, 'failed', /window is full, .* 0 restarts are used up/],
    ['cost', 3, { budget: { maxCostUsd: 2.5 }, model: 'house-model' }, 'paused', /cannot continue: it has cost/],
  ] as const)(
    'is read back to its last word when the budget allows no more work (%s)',
    async (limit, commits, more, state, reason) => {
      const work = [
        ...[answer('a', 100, 'call-1'), result('call-1'), answer('b', 900, 'call-2'), result('call-2')],
        ...[answer('c', 910, 'call-3'), result('call-3')],
      ]
      const { texts, sessions, launches, summary } = await lostAfter(commits, work, work.length, more)
      expect(summary).toMatchObject({ outcome: 'exhausted', limit, reason: expect.stringMatching(reason) })
      expect(texts).toEqual([
        ...[said('a'), 'tool: Result of call-1.', said('b'), 'tool: Result of call-2.'],
        ...[said('c'), 'tool: Result of call-3.'],
      ])
      expect(sessions).toMatchObject([{ state }])
      expect(launches).toEqual(['start'])
    },
  )

  it('leads to a restart when it crossed', async () => {
    const crossing = [answer('a', 100, 'call-1'), result('call-1'), answer('b', 900, 'call-2'), result('call-2')]
    const { texts, sessions, handoffs, launches, summary } = await lostAfter(4, crossing)
    expect(handoffs).toMatchObject([
      { status: 'completed', triggeringToolCalls: [{ callId: 'call-1' }, { callId: 'call-2' }] },
    ])
    expect(texts.slice(0, 4)).toEqual([said('a'), 'tool: Result of call-1.', said('b'), 'tool: Result of call-2.'])
    expect(sessions).toMatchObject([{ state: 'handed_off', progress: { turns: 2 } }, { state: 'completed' }])
    expect(launches).toEqual(['start', 'start'])
    expect(summary.restarts).toBe(1)
  })

  it('of a session that is being left is added to the turn that crossed', async () => {
    const left = [answer('a', 900, 'call-1', 'call-2'), result('call-1'), result('call-2'), answer('b', 910)]
    const { texts, sessions, store, handoffs } = await lostAfter(4, left)
    const { items } = await store.messages.listTurns(sessions[0]?.id as never, { limit: 10 })
    expect(items).toHaveLength(1)
    expect(handoffs).toMatchObject([{ status: 'completed', priorTurnId: items[0]?.id }])
    expect(texts.slice(0, 4)).toEqual([said('a'), 'tool: Result of call-1.', 'tool: Result of call-2.', said('b')])
  })

  /** 5 results, 6 usage, 7 checkpoint, 8 claim, 9 prepared, 10 completed, 11 successor attached. */
  it.each([7, 10])(
    'of a session that takes no more is kept with the handoff (lost after %i commits)',
    async (commits) => {
      // Said after the agent was interrupted, when nobody listened any more.
      const late = [...[answer('a', 900, 'call-1'), result('call-1')], answer('b', 910, 'call-2'), result('call-2')]
      const { texts, handoffs, batonpass, summary } = await lostAfter(commits, late, 2)
      expect(handoffs).toMatchObject([
        {
          status: 'completed',
          extract: 'assistant: Answer b, the key is ***.\n\ntool call: edit (call-2)\n\ntool: Result of call-2.',
        },
      ])
      expect(texts).not.toContain(said('b'))
      const kinds = (await batonpass.history.auditTrail(summary.conversationId)).items.map(({ event }) => event.type)
      expect(kinds.filter((kind) => kind === 'handoff.extract_kept')).toHaveLength(1)
    },
  )

  it('after an interruption is read back when the session is resumed', async () => {
    const store = new MemoryStore({ clock: new FixedClock() })
    const batonpass = await createBatonpass({ store })
    const { runtime } = agent(WORK)
    const controller = new AbortController()
    const run = batonpass.run({ runtime, agent: 'own', prompt: TASK, conversation: KEY, signal: controller.signal })
    for await (const _ of run) controller.abort(new Error('Enough'))
    const { summary } = await play(batonpass, runtime, { agent: 'own', conversation: KEY, prompt: 'Continue' })
    const texts = (await spoken(store, summary)).filter((text) => !text.startsWith('user'))
    expect(texts.map((text) => text.replace(/, the key.*/, ''))).toEqual([
      ...['assistant: Answer a', 'tool: Result of call-1.', 'assistant: Answer b', 'tool: Result of call-2.'],
      ...['assistant: Answer c', 'assistant: Answer resume-2'],
    ])
  })
})

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'batonpass-transcript-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}

const write = (path: string, records: readonly object[], cutOff = ''): void => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, `${records.map((record) => JSON.stringify(record)).join('\n')}\n${cutOff}`)
}

const read = async (runtime: AgentRuntime, providerSessionId: string): Promise<readonly TranscriptStep[]> => {
  const steps: TranscriptStep[] = []
  for await (const step of runtime.transcript?.({ providerSessionId }) ?? []) steps.push(step)
  return steps
}

describe('the transcript', () => {
  it('of Claude is read where it is kept, without subagents, local messages and what is cut off', async () => {
    const home = folder()
    const line = (type: string, message: object, more: object = {}) => ({
      type,
      uuid: `u-${Math.random()}`,
      sessionId: 's-1',
      message,
      ...more,
    })
    const usage = { input_tokens: 500, output_tokens: 3 }
    const block = (text: string) => [{ type: 'text', text }]
    write(
      join(home, 'projects', 'one', 's-1.jsonl'),
      [
        line('user', { role: 'user', content: 'Fix it' }),
        line('assistant', { id: 'm1', model: 'claude-haiku-4-5', usage, content: block('Looking.') }),
        line('assistant', {
          id: 'm1',
          model: 'claude-haiku-4-5',
          usage,
          content: [{ type: 'tool_use', id: 't1', name: 'Read' }],
        }),
        line(
          'assistant',
          { id: 'm9', model: 'claude-haiku-4-5', usage, content: block('Sub.') },
          { isSidechain: true },
        ),
        line('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a.txt' }] }),
        line('assistant', { id: 'm2', model: '<synthetic>', content: block('API Error') }),
      ],
      '{"type":"assistant","message":{"id":"m3","content":[{"type":"te',
    )
    const runtime = claudeCommandRuntime({ env: { CLAUDE_CONFIG_DIR: home } })
    const steps = await read(runtime, 's-1')
    expect(steps.flatMap(({ texts }) => texts)).toEqual([
      { role: 'user', text: 'Fix it' },
      { role: 'assistant', text: 'Looking.', id: 'm1' },
      { role: 'tool', text: 'a.txt', id: 't1' },
    ])
    const events = steps.flatMap((step) => step.events)
    expect(events.filter(({ type }) => type === 'tool_call')).toMatchObject([{ callId: 't1', toolName: 'Read' }])
    expect(await read(runtime, 'no-such-session')).toEqual([])
    expect(await read(runtime, '../../etc/passwd')).toEqual([])
  })

  it('of Codex is its rollout', async () => {
    const home = folder()
    const item = (payload: object) => ({ type: 'response_item', payload })
    write(join(home, 'sessions', '2026', '11', '16', 'rollout-2026-11-16T00-00-00-thread-1.jsonl'), [
      { type: 'session_meta', payload: { id: 'thread-1' } },
      item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] }),
      item({ type: 'function_call', call_id: 'c1', name: 'shell' }),
      item({ type: 'function_call_output', call_id: 'c1', output: 'a.txt' }),
    ])
    const runtime = codexRuntime({ home }) as AgentRuntime
    const steps = await read(runtime, 'thread-1')
    expect(steps.flatMap(({ texts }) => texts)).toEqual([
      { role: 'assistant', text: 'Looking.' },
      { role: 'tool', text: 'a.txt', id: 'c1' },
    ])
    expect(await read(runtime, 'thread-2')).toEqual([])
  })
})
