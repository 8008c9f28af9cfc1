import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import {
  type AgentRuntime,
  type Batonpass,
  createBatonpass,
  functionRuntime,
  type RunEvent,
  unwrap,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { RuntimeStep, Store } from '../../src/entry/ports.ts'
import { ENDS, FILLS, logged, play, recorded, script, spoken, TASK, turn } from './played.ts'

let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

type Step = Partial<RuntimeStep<string>> & { readonly message: string }

/** An agent that says these steps, and what it did not get to say because it was stopped. */
const agent = (...windows: readonly (readonly Step[])[]) => {
  const said: string[] = []
  let started = 0
  const runtime = functionRuntime<Step>({
    backend: 'steps',
    start: async function* ({ signal }) {
      const steps = windows[started] ?? []
      started += 1
      for (const step of steps) {
        if (signal.aborted) return
        said.push(step.message)
        yield step
      }
    },
    read: ({ message: _, ...meaning }) => meaning,
  })
  return { runtime, said }
}

const WINDOW = { type: 'window', tokens: 1_000 } as const

const answer = (key: string, promptTokens: number, ...tools: readonly string[]): Step => ({
  message: key,
  events: [
    WINDOW,
    { type: 'request', key, promptTokens, outputTokens: 0 },
    ...tools.map((toolName) => ({ type: 'tool_call', callId: `${key}-${toolName}`, toolName }) as const),
  ],
  texts: [{ role: 'assistant', text: key }],
})

const result = (message: string): Step => ({
  message,
  events: [{ type: 'appended', characters: 4 }],
  texts: [{ role: 'tool', text: 'done' }],
})

const types = (events: readonly RunEvent[]): readonly string[] => events.map(({ type }) => type)

describe('when a window is full', () => {
  it('no tool is cut off: it is interrupted when all of them have answered', async () => {
    const { runtime, said } = agent(
      [answer('a', 900, 'one', 'two', 'three'), result('1'), result('2'), result('3'), answer('late', 950, 'four')],
      [answer('b', 100)],
    )
    const { summary, messages } = await play(batonpass, runtime)
    expect(said).toEqual(['a', '1', '2', '3', 'b'])
    expect(messages).toHaveLength(5)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
  })

  it('and the work is finished before it can be interrupted, the handoff is cancelled', async () => {
    const stubborn: AgentRuntime<string> = {
      backend: 'stubborn',
      takesSessionId: false,
      start: () => ({
        steps: (async function* (): AsyncGenerator<RuntimeStep<string>> {
          yield { texts: [], events: [], ...answer('a', 900, 'one') }
          yield { texts: [], events: [], ...result('1') }
          yield { texts: [], events: [], ...answer('finished', 910) }
          yield { texts: [], events: [], end: { type: 'idle' } }
        })(),
        interrupt: async () => undefined,
      }),
    }
    const { summary, events } = await play(batonpass, stubborn)
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 1, restarts: 0, turns: 1 })
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([{ status: 'cancelled' }])
    expect(sessions).toMatchObject([{ state: 'completed', progress: { turns: 1 } }])
    // Said while it was being left, it belongs to the turn that crossed.
    expect((await spoken(store, summary)).slice(1)).toEqual(['assistant: a', 'tool: done', 'assistant: finished'])
    expect(types(events)).toContain('context:handoff:cancelled')
  })

  it('with the last answer, there is nothing to restart for', async () => {
    const { summary } = await play(batonpass, script([{ turns: [turn(100, 'read'), turn(990)] }]))
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
    expect((await recorded(batonpass, summary)).handoffs).toEqual([])
  })

  it.each(['manual', 'advise'] as const)('under %s it is only said', async (policy) => {
    const { summary, events } = await play(batonpass, script([{ turns: [...FILLS, ...ENDS] }]), { policy })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
    expect(types(events).includes('context:milestone')).toBe(true)
  })

  it('nobody knows how full it is without a window, and nothing is restarted', async () => {
    const { summary } = await play(batonpass, script([{ turns: [...FILLS, ...ENDS] }], { windowTokens: 0 }))
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
  })

  it('and the runtime makes room by itself, nothing is handed off meanwhile', async () => {
    const turns = [turn(100, 'read'), turn(840, 'edit'), { ...turn(300, 'read'), afterCompaction: true }, turn(350)]
    const { summary, events } = await play(batonpass, script([{ turns }]))
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0, turns: 4 })
    expect(events.filter(({ type }) => type === 'context:compaction')).toMatchObject([{ trigger: 'auto' }])
    expect(await logged(batonpass, summary)).toContain('context.compacted')
  })

  it('because of the turn right before a compaction, there is no restart either', async () => {
    const compacting: Step = { message: 'compacting', events: [{ type: 'compacting', key: 'c' }] }
    const compacted: Step = { message: 'compacted', events: [{ type: 'compaction', trigger: 'auto', key: 'd' }] }
    const { runtime } = agent([
      answer('a', 100, 'one'),
      result('1'),
      answer('b', 990),
      compacting,
      compacted,
      answer('c', 80),
    ])
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0, turns: 3 })
    expect((await recorded(batonpass, summary)).handoffs).toEqual([])
  })

  it('so full that the next request does not fit, a fresh one goes on without a checkpoint', async () => {
    const end = { type: 'overflow', message: 'prompt is too long' } as const
    const runtime = script([{ turns: [turn(100, 'read'), turn(700, 'read')], end }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(runtime.questions).toEqual([])
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      {
        reason: expect.stringContaining('prompt is too long'),
        flags: ['window_overflowed', 'minimal_continuation', 'checkpoint_skipped', 'recap_from_record'],
      },
    ])
  })

  it('so full that not even the first request fits, it fails', async () => {
    const end = { type: 'overflow', message: 'prompt is too long' } as const
    const { summary } = await play(batonpass, script([{ turns: [], end }]))
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'prompt is too long', turns: 0 })
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'failed' }])
  })
})

describe('a run ends', () => {
  it('failed, when its runtime throws', async () => {
    const broken = functionRuntime<string>({
      backend: 'broken',
      // biome-ignore lint/correctness/useYield: it breaks before it says anything
      start: async function* () {
        throw new Error('No such model')
      },
      read: () => ({}),
    })
    const { summary } = await play(batonpass, broken)
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'No such model' })
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([
      { state: 'failed', endReason: 'No such model' },
    ])
  })

  it('superseded, when somebody else takes the session over', async () => {
    const runtime = script([{ turns: [...FILLS.slice(0, 1), turn(200, 'read'), turn(300)] }])
    const run = batonpass.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto' })
    const seen: string[] = []
    run.on(({ type }) => seen.push(type))
    let isTaken = false
    for await (const _ of run) {
      if (isTaken) continue
      isTaken = true
      const [session] = (await store.sessions.list({}, {})).items
      if (session) unwrap(await batonpass.handoffs.takeOverSession({ session: session.id }))
    }
    expect(await run.summary).toMatchObject({ outcome: 'superseded' })
    expect(seen).toContain('session:replaced')
    const [session] = (await store.sessions.list({}, {})).items
    expect(session?.state).toBe('active')
  })

  it('superseded, when its heartbeat finds that it was', async () => {
    const runtime = functionRuntime<string>({
      backend: 'slow',
      start: async function* ({ signal }) {
        yield 'working'
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      read: () => ({ providerSessionId: 'p-1' }),
    })
    const run = batonpass.run({ runtime, agent: 'claude', prompt: TASK, leaseMs: 60 })
    for await (const _ of run) {
      const [session] = (await store.sessions.list({}, {})).items
      if (session) unwrap(await batonpass.handoffs.takeOverSession({ session: session.id, leaseMs: 60_000 }))
    }
    expect(await run.summary).toMatchObject({ outcome: 'superseded' })
  })

  it('timed out, when the time of its conversation is over', async () => {
    const runtime = functionRuntime<string>({
      backend: 'slow',
      start: async function* ({ signal }) {
        yield 'working'
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      read: () => ({}),
    })
    const budget = { maxRestarts: 3, deadlineMs: 60, whenExhausted: 'stop' as const }
    const { summary } = await play(batonpass, runtime, { budget })
    expect(summary.outcome).toBe('timed_out')
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'failed' }])
  })

  it('though its runtime does not listen, a while after it was cancelled', { timeout: 600_000 }, async () => {
    const deaf = functionRuntime<string>({
      backend: 'deaf',
      start: async function* () {
        yield 'working'
        await new Promise(() => undefined)
      },
      read: () => ({}),
    })
    const controller = new AbortController()
    const run = batonpass.run({ runtime: deaf, agent: 'claude', prompt: TASK, signal: controller.signal })
    for await (const _ of run) setTimeout(() => controller.abort(new Error('Enough')), 20)
    const summary = await run.summary
    expect(summary.outcome).toBe('cancelled')
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'paused' }])
  })

  it.each([
    [{ agent: ' ' }, 'The agent cannot be used: it is blank'],
    [{ prompt: ' ' }, 'The prompt cannot be used: it is blank'],
    [{ policy: 'sometimes' }, 'not one of manual, advise, auto'],
    [{ leaseMs: 0 }, 'The leaseMs cannot be used'],
    [{ milestones: [{ name: 'restart', at: 2 }] }, 'The milestones[0].at cannot be used'],
    [{ runtime: undefined }, 'A run needs a runtime'],
    [{ hooks: 'none' }, 'hooks is a list'],
    [{ checkpointTimeoutMs: -1 }, 'checkpointTimeoutMs'],
    [{ conversation: 'a', conversationId: '0190a0a0-0000-7000-8000-000000000001' }, 'not by both'],
  ])('before it begins, for %j, and nothing is stored', async (wrong, problem) => {
    await expect(play(batonpass, script([{ turns: ENDS }]), wrong as never)).rejects.toThrow(problem)
    expect((await store.conversations.list({}, {})).items).toEqual([])
  })

  it('without anything, when it was cancelled before it began', async () => {
    const signal = AbortSignal.abort(new Error('Never mind'))
    await expect(play(batonpass, script([{ turns: ENDS }]), { signal })).rejects.toThrow('Never mind')
    expect((await store.conversations.list({}, {})).items).toEqual([])
  })
})

describe('whoever watches', () => {
  it('can iterate what happens, until the run is over', async () => {
    const run = batonpass.run({ runtime: script([{ turns: ENDS }]), agent: 'claude', prompt: TASK })
    const events = run.events()
    const finished = run.finish()
    const seen: string[] = []
    for await (const { type, version, agentName } of events) {
      expect([version, agentName]).toEqual([1, 'claude'])
      seen.push(type)
    }
    await finished
    expect(seen).toEqual(['session:start', 'turn:recorded', 'turn:recorded', 'session:end', 'run:end'])
  })

  it('cannot break it by throwing', async () => {
    const run = batonpass.run({ runtime: script([{ turns: ENDS }]), agent: 'claude', prompt: TASK })
    run.on(() => {
      throw new Error('Mine')
    })
    expect((await run.finish()).outcome).toBe('completed')
  })

  it('is told of a handoff with the figures of the window, from 1', async () => {
    const windows = [{ turns: FILLS, checkpoint: 'On.' }, { turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]
    const { events } = await play(batonpass, script(windows), { conversation: 'job-7' })
    const starts = events.filter(({ type }) => type === 'context:handoff:start')
    const completes = events.filter((event) => event.type === 'context:handoff:complete')
    expect(starts[0]).toMatchObject({
      agentName: 'claude',
      jobId: 'job-7',
      usagePercent: 0.901,
      inputTokens: 901,
      contextWindow: 1_000,
    })
    expect(completes.map(({ handoffNumber }) => handoffNumber)).toEqual([1, 2])
    expect(completes[0]?.newSessionId).toBe(starts[1] && 'oldSessionId' in starts[1] ? starts[1].oldSessionId : '')
  })

  it('gets its own template asked, filled literally', async () => {
    const runtime = script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }])
    await play(batonpass, runtime, { prompt: 'Print $& and {sections}', template: 'Task: {original_task} {else}' })
    expect(runtime.questions[0]?.prompt).toBe('Task: Print $& and {sections} {else}')
    const other = script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }])
    await play(batonpass, other, { template: ({ toolCalls }) => toolCalls.map(({ toolName }) => toolName).join() })
    expect(other.questions[0]?.prompt).toBe('read,edit')
  })

  it('gets its own continuation, filled literally, with the checkpoint in its fence', async () => {
    const windows = [{ turns: FILLS, checkpoint: 'Half {remarks} $&' }, { turns: ENDS }]
    const runtime = script(windows)
    await play(batonpass, runtime, { continuation: 'TASK {original_task} THEN {checkpoint} {braces}' })
    expect(runtime.launches[1]?.prompt).toMatch(
      /^TASK Fix the flaky test THEN <checkpoint-[0-9a-f-]+>\nHalf \{remarks\} \$&\n<\/checkpoint-[0-9a-f-]+> \{braces\}$/,
    )
    const other = script(windows)
    await play(batonpass, other, { continuation: ({ checkpoint }) => `Mine: ${checkpoint.text}` })
    expect(other.launches[1]?.prompt).toBe('Mine: Half {remarks} $&')
  })

  it('sees which claims of a checkpoint cite calls on record, over all sessions', async () => {
    const known: string[] = []
    // The call of the first session is still on record when the second one cites it.
    const first = (prompt: string): string => {
      known.push(...(prompt.match(/(?<=- )\S+(?= read)/g) ?? []))
      return 'First.'
    }
    const windows = [
      { turns: FILLS, checkpoint: first },
      {
        turns: FILLS,
        checkpoint: () => `## Completed work\n- Read it [call:${known[0]}]\n- Tests pass [call:made-up]\n- Asked Ann`,
      },
      { turns: ENDS },
    ]
    const runtime = script(windows)
    const run = batonpass.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto' })
    const summary = await run.finish()
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs[1]?.checkpoint).toMatchObject({
      outcome: 'kept',
      sections: ['Completed work'],
      statements: { cited: 1, uncited: 1, miscited: 1 },
    })
    expect(runtime.launches[2]?.prompt).toContain('Unverified: 1 statement that cites no tool call')
  })
})
