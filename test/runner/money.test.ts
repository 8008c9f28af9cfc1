import { beforeEach, describe, expect, it } from 'vitest'
import type { MessageMeaning } from '../../src/adapters/runtime/function-runtime.ts'
import { agentSdkReader } from '../../src/entry/claude.ts'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass, functionRuntime, type RestartBudget } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import { answer, result, type Sent } from '../runtimes/claude-messages.ts'
import { FILLS, play, recorded, script, turn } from './played.ts'

let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

const capped = (maxCostUsd: number, more: Partial<RestartBudget> = {}): RestartBudget => ({
  maxRestarts: 3,
  whenExhausted: 'stop',
  maxCostUsd,
  ...more,
})

/** An agent that would never stop by itself; each answer costs so much, as its runtime says after each. */
const spender = (usdEach: number, log: number[] = [], most = 300) =>
  functionRuntime<number>({
    backend: 'spender',
    reportsCost: true,
    start: async function* ({ signal }) {
      for (let number = 1; number <= most && !signal.aborted; number += 1) {
        log.push(number)
        yield number
      }
    },
    read: (number) => ({
      events: [{ type: 'request', key: `r${number}`, promptTokens: 10, outputTokens: 1 }],
      texts: [{ role: 'assistant', text: `Answer ${number}.` }],
      totals: { inputTokens: number * 10, outputTokens: number, requests: number, costUsd: number * usdEach },
    }),
  })

const costOnRecord = async (conversationId: string): Promise<number> => {
  const { sessions, handoffs } = await recorded(batonpass, { conversationId } as never)
  const costs = [...sessions.map(({ totals }) => totals), ...handoffs.map(({ checkpoint }) => checkpoint?.totals)]
  return costs.reduce((sum, totals) => sum + (totals?.costUsd ?? 0), 0)
}

describe('a run with a cap on its cost', () => {
  it('ends with the request that reaches it, and says which limit it was', async () => {
    const log: number[] = []
    const { summary } = await play(batonpass, spender(0.4, log), { budget: capped(1) })
    expect(log).toEqual([1, 2, 3])
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost' })
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ state: 'paused', progress: { turns: 3 } }])
    expect(await costOnRecord(summary.conversationId)).toBeCloseTo(1.2)
  })

  it('ends too where the budget says to carry on: that is about windows, not about money', async () => {
    const log: number[] = []
    const { summary } = await play(batonpass, spender(5, log), { budget: capped(1, { whenExhausted: 'carry_on' }) })
    expect(log).toEqual([1])
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost' })
  })

  it('is over before it begins when the conversation has cost that much already', async () => {
    const first = await play(batonpass, spender(5), { budget: capped(1), conversation: 'K' })
    const log: number[] = []
    const again = await play(batonpass, spender(5, log), { conversation: 'K', prompt: 'Another thing' })
    expect(log).toEqual([])
    expect(again.summary).toMatchObject({ outcome: 'exhausted', limit: 'cost', sessions: 0 })
    expect((await recorded(batonpass, first.summary)).sessions).toHaveLength(1)
  })

  it('launches no successor when the checkpoint reached it, and keeps the checkpoint', async () => {
    const totals = { inputTokens: 10, outputTokens: 1, costUsd: 0.5 }
    const checkpointTotals = { inputTokens: 10, outputTokens: 1, costUsd: 0.7 }
    const runtime = script([{ turns: FILLS, totals, checkpoint: 'Half.', checkpointTotals }, { turns: [turn(100)] }])
    const { summary } = await play(batonpass, runtime, { budget: capped(1), allowUnpriced: true })
    expect(runtime.launches).toHaveLength(1)
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost', totals: { costUsd: 1.2 } })
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ state: 'paused' }])
    expect(handoffs).toMatchObject([{ status: 'failed', document: 'Half.' }])
  })
})

describe('what a run used', () => {
  it('counts a question that failed, as far as its runtime had said', async () => {
    const checkpointTotals = { inputTokens: 900, outputTokens: 3, requests: 1, costUsd: 0.25 }
    const runtime = script([
      { turns: FILLS, checkpoint: new Error('Overloaded'), checkpointTotals },
      { turns: [turn(100)] },
    ])
    const { summary } = await play(batonpass, runtime)
    // The question, and the three requests beside it.
    expect(summary.totals).toMatchObject({ costUsd: 0.25, inputTokens: 2_000, requests: 4 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      { checkpoint: { outcome: 'failed', totals: checkpointTotals } },
    ])
  })
})

describe('a model without a price', () => {
  const budget = capped(5)

  it('is refused under a cap before anything is launched, unless that is allowed', async () => {
    const runtime = script([{ turns: [turn(100)] }])
    await expect(play(batonpass, runtime, { budget, model: 'house-model' })).rejects.toMatchObject({
      refusal: { code: 'budget.unpriced', model: 'house-model', maxCostUsd: 5 },
    })
    expect(runtime.launches).toEqual([])
    const { summary } = await play(batonpass, runtime, { budget, model: 'house-model', allowUnpriced: true })
    expect(summary.outcome).toBe('completed')
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'completed' }])
  })

  it('that turns up later ends the run, which says why', async () => {
    const { summary } = await play(batonpass, script([{ turns: [turn(100, 'read'), turn(200, 'read'), turn(300)] }]), {
      budget,
    })
    expect(summary).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('no list price') })
    expect((await recorded(batonpass, summary)).sessions[0]?.progress.turns).toBe(1)
  })

  it('is counted by its requests and the list where it has one', async () => {
    const priced = await createBatonpass({ store, priceOf: (_, { inputTokens }) => inputTokens / 100 })
    const runtime = script([{ turns: [turn(100, 'read'), turn(200, 'read'), turn(300, 'read'), turn(400)] }])
    const { summary } = await play(priced, runtime, { budget: capped(3), model: 'house-model' })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost', totals: { costUsd: 3, estimatedUsd: 3 } })
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ totals: { costUsd: 3, estimatedUsd: 3, requests: 2 }, progress: { turns: 2 } }])
  })
})

describe('an agent whose cost nobody can tell', () => {
  const talker = (meaning: (number: number) => MessageMeaning, more: { readonly reportsCost?: true } = {}) =>
    functionRuntime<number>({
      backend: 'talker',
      start: async function* () {
        for (let number = 1; number <= 40; number += 1) yield number
      },
      read: (number) => ({ texts: [{ role: 'assistant', text: `Answer ${number}.` }], ...meaning(number) }),
      ...more,
    })
  const KINDS: readonly (readonly [string, ReturnType<typeof talker>, 'usage' | 'cost'])[] = [
    ['says nothing of its usage', talker(() => ({})), 'usage'],
    ['says only how full its window is', talker(() => ({ events: [{ type: 'percentage', usedPercent: 3 }] })), 'usage'],
    ['promises its cost and never says it', talker(() => ({}), { reportsCost: true }), 'cost'],
    [
      'promises its cost and says only tokens',
      talker((number) => ({ totals: { inputTokens: number, outputTokens: 1 } }), { reportsCost: true }),
      'cost',
    ],
    [
      'says its cost once and then no more',
      talker((number) => (number === 1 ? { totals: { inputTokens: 1, outputTokens: 1, costUsd: 0.1 } } : {}), {
        reportsCost: true,
      }),
      'cost',
    ],
  ]

  it.each(KINDS)('is refused under a cap when it %s', async (_, runtime, missing) => {
    const { summary } = await play(batonpass, runtime, { budget: capped(1) })
    expect(summary).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('--allow-unpriced') })
    expect(summary.reason).toContain(`does not report the ${missing} of its answers`)
    const { sessions } = await recorded(batonpass, summary)
    // An answer, and the one in flight when it was known that the first says nothing.
    expect(sessions[0]?.progress.turns).toBeLessThanOrEqual(3)
    expect(sessions).toMatchObject([{ state: 'failed' }])
  })

  it.each(KINDS)('is let go on where that is allowed, and without a cap, when it %s', async (_, runtime) => {
    const allowed = await play(batonpass, runtime, { budget: capped(1), allowUnpriced: true })
    expect(allowed.summary).toMatchObject({ outcome: 'completed', turns: 40 })
    const free = await play(batonpass, runtime)
    expect(free.summary).toMatchObject({ outcome: 'completed', turns: 40 })
  })

  it('is refused though it gives one answer only', async () => {
    const once = functionRuntime<string>({
      backend: 'once',
      start: async function* () {
        yield 'Done.'
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }] }),
    })
    const { summary } = await play(batonpass, once, { budget: capped(1) })
    expect(summary).toMatchObject({ outcome: 'failed', turns: 1, reason: expect.stringContaining('--allow-unpriced') })
  })

  it('is not refused for figures that come after the answer and before the next', async () => {
    const late = functionRuntime<number>({
      backend: 'late',
      reportsCost: true,
      start: async function* () {
        for (let number = 1; number <= 6; number += 1) yield number
      },
      read: (number) =>
        number % 2 === 1
          ? { texts: [{ role: 'assistant', text: `Answer ${number}.` }] }
          : { totals: { inputTokens: number, outputTokens: 1, costUsd: number / 100 } },
    })
    const { summary } = await play(batonpass, late, { budget: capped(1) })
    expect(summary).toMatchObject({ outcome: 'completed', turns: 3, totals: { costUsd: 0.06 } })
  })
})

describe('a reader that counts', () => {
  const spoken = (number: number) =>
    answer(`msg_${number}`, `Answer ${number}.`, { usage: { input_tokens: 10, output_tokens: 2 } })
  const viaReader = (messages: readonly Sent[]) =>
    functionRuntime<Sent>({
      backend: 'read',
      start: async function* () {
        yield* messages
      },
      read: agentSdkReader,
    })

  it('is asked for what a launch used: its cost counts under a cap', async () => {
    const dear = { ...result(), total_cost_usd: 50 }
    const { summary } = await play(batonpass, viaReader([spoken(1), dear, spoken(2), spoken(3)]), {
      budget: capped(1),
      model: 'claude-haiku-4-5',
    })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost' })
    expect(await costOnRecord(summary.conversationId)).toBeCloseTo(50)
  })

  it('begins anew with each launch', async () => {
    const runtime = viaReader([spoken(1), spoken(2)])
    await play(batonpass, runtime, { conversation: 'R' })
    const { summary } = await play(batonpass, runtime, { conversation: 'R', prompt: 'Again', sessionMode: 'fresh' })
    expect(summary.totals).toMatchObject({ inputTokens: 20, outputTokens: 4, requests: 2 })
  })
})

describe('requests of a runtime that says no totals', () => {
  it('are counted without a cap too', async () => {
    const { summary } = await play(batonpass, script([{ turns: [turn(100, 'read'), turn(200)] }]))
    expect(summary.totals).toMatchObject({ inputTokens: 300, requests: 2 })
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ totals: { inputTokens: 300, requests: 2 } }])
  })
})

describe('a request that is reported in parts', () => {
  it('is paid for once, with the largest figures that were said of it', async () => {
    const priced = await createBatonpass({
      store,
      priceOf: (_, { inputTokens, outputTokens }) => (inputTokens + outputTokens) / 100,
    })
    const parts = [
      { key: 'r1', promptTokens: 100, outputTokens: 1, text: 'One' },
      { key: 'r1', promptTokens: 100, outputTokens: 20, text: 'half.' },
      { key: 'r2', promptTokens: 200, outputTokens: 30, text: 'Two.' },
    ]
    const runtime = functionRuntime<(typeof parts)[number]>({
      backend: 'in-parts',
      start: async function* () {
        yield* parts
      },
      read: ({ text, ...request }) => ({
        events: [{ type: 'request', ...request }],
        texts: [{ role: 'assistant', text }],
      }),
    })
    const { summary } = await play(priced, runtime, { budget: capped(9), model: 'house-model' })
    expect(summary).toMatchObject({ outcome: 'completed', totals: { requests: 2, costUsd: 3.5, estimatedUsd: 3.5 } })
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ totals: { inputTokens: 300, outputTokens: 50, requests: 2 } }])
  })
})

describe('a run with a number of turns', () => {
  it('ends when the tools of the last one have answered, and a later run goes on in the same window', async () => {
    const turns = [turn(100, 'read'), turn(200, 'read', 'edit'), turn(300, 'read'), turn(400)]
    const runtime = script([{ turns }])
    const { summary } = await play(batonpass, runtime, { conversation: 'T', maxTurns: 2 })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'turns', turns: 2 })
    // The results of its last tools are on record too, as a turn that nobody was asked for.
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'paused', progress: { turns: 3 } }])
    const again = await play(batonpass, runtime, { conversation: 'T' })
    expect(again.summary).toMatchObject({ outcome: 'completed', turns: 2, sessions: 1 })
    expect(runtime.launches.map(({ how }) => how)).toEqual(['start', 'resume'])
  })

  it('completes when the work is done with the last one', async () => {
    const { summary } = await play(batonpass, script([{ turns: [turn(100, 'read'), turn(200)] }]), { maxTurns: 2 })
    expect(summary).toMatchObject({ outcome: 'completed', turns: 2 })
  })
})

describe('an agent that says nothing', () => {
  it('is ended after its time, and the run says so', async () => {
    const silent = functionRuntime<string>({
      backend: 'silent',
      start: async function* ({ signal }) {
        yield 'One answer.'
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }] }),
    })
    const { summary } = await play(batonpass, silent, { idleTimeoutMs: 30 })
    expect(summary).toMatchObject({ outcome: 'timed_out', reason: expect.stringContaining('said nothing for 30 ms') })
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ state: 'failed', progress: { turns: 1 } }])
  })

  it('is ended at the deadline too where the budget says to carry on', async () => {
    const busy = functionRuntime<string>({
      backend: 'busy',
      start: async function* ({ signal }) {
        while (!signal.aborted) {
          await new Promise((resolve) => setTimeout(resolve, 5))
          yield 'Still at it.'
        }
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }] }),
    })
    const budget = { deadlineMs: 60, whenExhausted: 'carry_on' } as const
    const { summary } = await play(batonpass, busy, { budget })
    expect(summary).toMatchObject({ outcome: 'timed_out', limit: 'deadline' })
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'failed', endedBy: 'deadline' }])
  })
})

describe('a threshold that leaves no room to ask', () => {
  it('is warned of when the run begins', async () => {
    const more = { model: 'claude-haiku-4-5', milestones: [{ name: 'restart', at: 0.98 }] }
    const { events } = await play(batonpass, script([{ turns: [turn(100)] }]), more)
    expect(events).toContainEqual(expect.objectContaining({ type: 'run:warning', code: 'threshold.no_room_to_ask' }))
    const fine = await play(batonpass, script([{ turns: [turn(100)] }]), { model: 'claude-haiku-4-5' })
    expect(fine.events.map(({ type }) => type)).not.toContain('run:warning')
  })
})
