import { z } from 'zod'
import { addTotals, differenceOf } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { CountedUsage, UsageCounter } from '../../../ports/agent/window-reader.ts'
import { answerCharacters, counters, SYNTHETIC } from './claude-message.ts'
import { resultIn, totalsOf } from './claude-result.ts'

const usage = counters.partial({ input_tokens: true })

const answer = z.looseObject({
  id: z.string(),
  model: z.string().optional(),
  content: z.array(z.looseObject({ type: z.string() })).catch([]),
  usage: usage.optional().catch(undefined),
})

const record = z.union([
  z.looseObject({ type: z.literal('assistant'), message: answer }),
  z.looseObject({
    type: z.literal('stream_event'),
    parent_tool_use_id: z.string().nullish(),
    event: z.union([
      z.looseObject({ type: z.literal('message_start'), message: answer }),
      z.looseObject({ type: z.literal('message_delta'), usage }),
    ]),
  }),
])

type Counters = z.output<typeof usage>

/** One request, by the largest figures that were said of it: parts of an answer repeat what was known when they came. */
interface Request {
  readonly model: string | undefined
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
  characters: number
}

/** A usual length of a token in characters. It counts only until the final figure comes. */
const CHARACTERS_PER_TOKEN = 4

/**
 * Counts what one launch uses, request by request, subagents included; so it is known also of a launch that never comes
 * to its result. What the result says, cost above all, takes the place of it.
 */
export class ClaudeUsage implements UsageCounter {
  readonly #isResumed: boolean
  readonly #requests = new Map<string, Request>()
  #sum: UsageTotals = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  /** The request that each thread streams now. */
  readonly #streaming = new Map<string, string>()

  constructor({ isResumed = false }: { readonly isResumed?: boolean } = {}) {
    this.#isResumed = isResumed
  }

  take(message: unknown): CountedUsage | undefined {
    const result = resultIn(message)
    if (result !== undefined) {
      const totals = totalsOf(result, { isResumed: this.#isResumed, counted: this.#totals() })
      return totals && { totals }
    }
    const parsed = record.safeParse(message)
    const request = parsed.success ? this.#count(parsed.data) : undefined
    return request && { totals: this.#totals(), ...(request.model !== undefined && { usedModel: request.model }) }
  }

  #count(message: z.output<typeof record>): Request | undefined {
    if (message.type === 'assistant') return this.#answer(message.message)
    const { event } = message
    const thread = message.parent_tool_use_id ?? ''
    if (event.type === 'message_start') {
      this.#streaming.set(thread, event.message.id)
      return this.#answer(event.message)
    }
    const request = this.#requests.get(this.#streaming.get(thread) ?? '')
    return request && this.#change(request, event.usage)
  }

  #answer({ id, model, content, usage: counted }: z.output<typeof answer>): Request | undefined {
    if (model === SYNTHETIC || counted === undefined) return undefined
    const earlier = this.#requests.get(id)
    const request = earlier ?? { model, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, characters: 0 }
    this.#requests.set(id, request)
    return this.#change(request, counted, answerCharacters(content))
  }

  /** Changes a request and the sums with it: a launch may have many thousand, and each says something several times. */
  #change(request: Request, usage: Counters, characters = 0): Request {
    const before = tokensOf(request)
    request.characters += characters
    raise(request, usage)
    this.#sum = addTotals(this.#sum, differenceOf(tokensOf(request), before))
    return request
  }

  #totals(): UsageTotals {
    const { inputTokens, outputTokens, ...cache } = this.#sum
    return { inputTokens, outputTokens, requests: this.#requests.size, ...cache }
  }
}

/** The tokens of one request; until its final count comes, the length of its answer counts. */
const tokensOf = ({ input, cacheRead, cacheWrite, output, characters }: Request): UsageTotals => ({
  inputTokens: input + cacheRead + cacheWrite,
  outputTokens: Math.max(output, Math.floor(characters / CHARACTERS_PER_TOKEN)),
  cacheReadTokens: cacheRead,
  cacheWriteTokens: cacheWrite,
})

const raise = (request: Request, usage: Counters): void => {
  request.input = Math.max(request.input, usage.input_tokens ?? 0)
  request.cacheRead = Math.max(request.cacheRead, usage.cache_read_input_tokens)
  request.cacheWrite = Math.max(request.cacheWrite, usage.cache_creation_input_tokens)
  request.output = Math.max(request.output, usage.output_tokens)
}
