import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Batonpass,
  createBatonpass,
  functionRuntime,
  type RestartBudget,
  type Store,
  systemClock,
} from '../../src/index.ts'
import { MemoryStore } from '../../src/memory.ts'
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
    expect(summary.totals).toMatchObject({ costUsd: 0.25, inputTokens: 900 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      { checkpoint: { outcome: 'failed', totals: checkpointTotals } },
    ])
  })
})
