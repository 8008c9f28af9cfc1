import { functionRuntime } from '../../src/index.ts'
import type { RuntimeReply } from '../../src/ports.ts'
import type { UsageTotals } from '../../src/window.ts'
import type { Chance } from '../chaos/chance.ts'

/** Something a random agent said. */
export interface Said {
  readonly id: string
  readonly role: 'assistant' | 'tool'
  readonly text: string
  readonly promptTokens?: number
  readonly tools: readonly string[]
  readonly totals?: UsageTotals
}

/** What random agents spent and said, as they know it themselves. */
export interface Truth {
  costUsd: number
  /** The most that one request has cost. */
  dearestUsd: number
  requests: number
}

export const WINDOW = 1_000

/** An agent that works for a while, fills its window, breaks, or is done; every request of it costs something. */
export const randomAgent = (chance: Chance, truth: Truth) => {
  const spend = (): number => {
    const usd = Math.round(chance.next() * 100) / 100
    truth.costUsd += usd
    truth.dearestUsd = Math.max(truth.dearestUsd, usd)
    truth.requests += 1
    return usd
  }
  const work = async function* ({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<Said> {
    const turns = 1 + chance.below(6)
    let tokens = chance.below(400)
    let costUsd = 0
    for (let number = 1; number <= turns; number += 1) {
      if (signal.aborted) return
      costUsd += spend()
      tokens += chance.below(400)
      const id = `answer-${truth.requests}`
      const tools = chance.happens(0.6) ? [`${id}-call`] : []
      const usage = chance.happens(0.8) ? { promptTokens: Math.min(tokens, WINDOW) } : {}
      const totals = { inputTokens: tokens, outputTokens: number, requests: number, costUsd }
      yield { id, role: 'assistant', text: `Says ${id}`, tools, ...usage, totals }
      for (const call of tools) yield { id: call, role: 'tool', text: `Result of ${call}`, tools: [] }
      if (chance.happens(0.03)) throw new Error('The agent broke')
    }
  }
  return functionRuntime<Said>({
    backend: 'random',
    reportsCost: true,
    start: work,
    resume: work,
    ask: async ({ onUsage }): Promise<RuntimeReply> => {
      const totals = { inputTokens: 10, outputTokens: 10, requests: 1, costUsd: spend() }
      onUsage?.(totals)
      if (chance.happens(0.2)) throw new Error('The question was not answered')
      return { text: chance.happens(0.8) ? '<checkpoint>\nHalf done.\n</checkpoint>' : '', totals }
    },
    read: ({ id, role, text, promptTokens, tools, totals }) => ({
      providerSessionId: 'random-session',
      events: [
        { type: 'window', tokens: WINDOW },
        ...(promptTokens === undefined ? [] : [{ type: 'request' as const, key: id, promptTokens, outputTokens: 1 }]),
        ...tools.map((callId) => ({ type: 'tool_call' as const, callId, toolName: 'work' })),
      ],
      texts: [{ role, text, id }],
      ...(totals && { totals }),
    }),
  })
}
