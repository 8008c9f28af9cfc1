import { functionRuntime } from '../../src/entry/index.ts'
import type { RuntimeReply } from '../../src/entry/ports.ts'
import type { UsageTotals } from '../../src/entry/window.ts'
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
  /** The cost of requests during which the agent fell silent: nobody was ever told of them. */
  untoldUsd: number
  requests: number
}

export const WINDOW = 1_000

/** How the cost of an agent is known: it says it, or it is estimated from its totals, or from its requests alone. */
export const METERS = ['said', 'totals', 'requests'] as const

export type Meter = (typeof METERS)[number]

const TOKENS_A_DOLLAR = 3 * WINDOW

/** The list price of what these agents use. */
export const priceOf = (_: string, { inputTokens, outputTokens }: UsageTotals): number =>
  (inputTokens + outputTokens) / TOKENS_A_DOLLAR

const OUTPUT = 1

/** The kind of a random agent. */
export interface AgentKind {
  readonly meter: Meter
  /** Whether it sometimes says nothing any more: with a request on its way, or while a tool hangs. */
  readonly fallsSilent: boolean
}

/** An agent that works for a while, fills its window, breaks, falls silent, or is done; every request costs something. */
export const randomAgent = (chance: Chance, truth: Truth, { meter, fallsSilent }: AgentKind) => {
  const spend = (promptTokens: number): number => {
    const usd = meter === 'said' ? Math.round(chance.next() * 100) / 100 : (promptTokens + OUTPUT) / TOKENS_A_DOLLAR
    truth.costUsd += usd
    truth.dearestUsd = Math.max(truth.dearestUsd, usd)
    truth.requests += 1
    return usd
  }
  const isSilent = (): boolean => fallsSilent && chance.happens(0.06)
  const work = async function* ({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<Said> {
    const turns = 1 + chance.below(6)
    let tokens = chance.below(400)
    const used = { inputTokens: 0, outputTokens: 0, requests: 0 }
    let costUsd = 0
    for (let number = 1; number <= turns; number += 1) {
      if (signal.aborted) return
      tokens += chance.below(400)
      const promptTokens = Math.min(tokens, WINDOW)
      const usd = spend(promptTokens)
      if (isSilent()) {
        truth.untoldUsd += usd
        return silence(signal)
      }
      costUsd += usd
      used.inputTokens += promptTokens
      used.outputTokens += OUTPUT
      used.requests += 1
      const id = `answer-${truth.requests}`
      const tools = chance.happens(0.6) ? [`${id}-call`] : []
      // Who says no totals is counted by its requests, and has to name each.
      const usage = meter === 'requests' || chance.happens(0.8) ? { promptTokens } : {}
      const totals = { ...used, ...(meter === 'said' && { costUsd }) }
      yield { id, role: 'assistant', text: `Says ${id}`, tools, ...usage, ...(meter !== 'requests' && { totals }) }
      if (tools.length > 0 && isSilent()) return silence(signal)
      for (const call of tools) yield { id: call, role: 'tool', text: `Result of ${call}`, tools: [] }
      if (chance.happens(0.03)) throw new Error('The agent broke')
    }
  }
  return functionRuntime<Said>({
    backend: 'random',
    ...(meter === 'said' && { reportsCost: true }),
    start: work,
    resume: work,
    ask: async ({ onUsage }): Promise<RuntimeReply> => {
      const usd = spend(WINDOW)
      const used = { inputTokens: WINDOW, outputTokens: OUTPUT, requests: 1 }
      const totals = { ...used, ...(meter === 'said' && { costUsd: usd }) }
      onUsage?.(totals)
      if (chance.happens(0.2)) throw new Error('The question was not answered')
      return { text: chance.happens(0.8) ? '<checkpoint>\nHalf done.\n</checkpoint>' : '', totals }
    },
    read: ({ id, role, text, promptTokens, tools, totals }) => ({
      providerSessionId: 'random-session',
      events: [
        { type: 'window', tokens: WINDOW },
        ...(promptTokens === undefined
          ? []
          : [{ type: 'request' as const, key: id, promptTokens, outputTokens: OUTPUT }]),
        ...tools.map((callId) => ({ type: 'tool_call' as const, callId, toolName: 'work' })),
      ],
      texts: [{ role, text, id }],
      ...(totals && { totals }),
    }),
  })
}

/** Nothing more is said until somebody ends the agent. */
const silence = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
