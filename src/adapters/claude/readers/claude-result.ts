import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { saysTooLong } from '../../../domain/run/agent-end.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { RuntimeEnd } from '../../../ports/agent/agent-runtime.ts'
import { counters, promptOf } from './claude-message.ts'

const text = z.string().optional().catch(undefined)
const amount = z.number().nonnegative().catch(0)

const modelUsage = z.record(
  z.string(),
  z.looseObject({
    inputTokens: amount,
    outputTokens: amount,
    cacheReadInputTokens: amount,
    cacheCreationInputTokens: amount,
    costUSD: amount,
  }),
)

const result = z.looseObject({
  type: z.literal('result'),
  subtype: text,
  is_error: z.boolean().default(false).catch(true), // one that cannot be read is no success
  result: text,
  errors: z.array(z.string()).catch([]),
  stop_reason: text,
  terminal_reason: text,
  total_cost_usd: z.number().nonnegative().optional().catch(undefined),
  usage: counters.optional().catch(undefined),
  modelUsage: modelUsage.optional().catch(undefined),
  model_usage_since_last_result: modelUsage.optional().catch(undefined),
  permission_denials: z
    .array(z.looseObject({ tool_name: z.string(), tool_use_id: z.string(), tool_input: z.unknown() }))
    .catch([]),
})

/** How a launch ended, as the runtime says it. */
export type ClaudeResult = z.output<typeof result>

/** The parts of a result that we read, as they arrive. `test/agents` holds it against the SDK's own types. */
export type ClaudeResultShape = Pick<
  z.input<typeof result>,
  'type' | 'subtype' | 'is_error' | 'result' | 'errors' | 'terminal_reason' | 'total_cost_usd' | 'modelUsage'
>

/** A message's result, when it is one. */
export const resultIn = (message: unknown): ClaudeResult | undefined => {
  const parsed = result.safeParse(message)
  return parsed.success ? parsed.data : undefined
}

const FULL: readonly (string | undefined)[] = ['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker']

/** How the agent came to rest. An answer that was complete before an interrupt reached it is still an answer. */
export const endOf = (result: ClaudeResult, wasInterrupted: boolean): RuntimeEnd => {
  if (isOverflow(result)) return { type: 'overflow', message: messageOf(result) }
  if (result.terminal_reason?.startsWith('aborted_')) return { type: 'interrupted' }
  if (!isError(result)) return { type: 'idle' }
  if (wasInterrupted) return { type: 'interrupted' }
  return defined({ type: 'failed' as const, message: messageOf(result), code: codeOf(result) })
}

const isOverflow = (result: ClaudeResult): boolean =>
  FULL.includes(result.terminal_reason) ||
  result.stop_reason === 'model_context_window_exceeded' ||
  // Only an error's words: an agent may well talk about prompts that are too long.
  (isError(result) && [result.result ?? '', ...result.errors].some(saysTooLong))

/** A program of one's own may leave the subtype out. */
const isError = ({ is_error, subtype = 'success' }: ClaudeResult): boolean => is_error || subtype !== 'success'

/** An error in the middle of a success has `success` for its subtype. */
const codeOf = ({ terminal_reason, subtype }: ClaudeResult): string | undefined =>
  terminal_reason ?? (subtype === 'success' ? undefined : subtype)

const WORDS: Readonly<Record<string, string>> = {
  error_max_turns: 'The agent has used all the turns it was given.',
  error_max_budget_usd: 'The agent has used all the money it was given.',
  prompt_too_long: 'The prompt is too long for the window.',
  blocking_limit: 'The window is full.',
  rapid_refill_breaker: 'The window filled up again right after it was compacted.',
  model_context_window_exceeded: "The answer reached the end of the model's window.",
}

/** Notes of the runtime to its own makers; they say nothing to anybody else. */
const isForPeople = (words: string): boolean => words !== '' && !words.startsWith('[ede_diagnostic]')

const messageOf = (result: ClaudeResult): string => {
  const words = isError(result) ? [result.result ?? '', ...result.errors].filter(isForPeople).join(' ') : ''
  if (words !== '') return words
  const inWords = [result.subtype, result.terminal_reason, result.stop_reason].map((code) => WORDS[code ?? ''])
  return inWords.find(Boolean) ?? `The agent ended with an error (${codeOf(result) ?? 'it gave no reason'}).`
}

/** Facts about a launch: whether it resumed a session, and the usage counted from its requests. */
export interface LaunchFacts {
  readonly isResumed: boolean
  readonly counted: UsageTotals
}

/**
 * The usage of a launch. The sums of a resumed session continue its earlier sums, so only the difference counts:
 * the usage since then. `num_turns` is not how many requests there were: an interrupt and a refused tool count as turns too.
 */
export const totalsOf = (result: ClaudeResult, { isResumed, counted }: LaunchFacts): UsageTotals | undefined => {
  const models = Object.values(result.model_usage_since_last_result ?? (isResumed ? {} : (result.modelUsage ?? {})))
  if (models.length === 0) return mainTotals(result, { isResumed, counted })
  const sum = (of: (model: (typeof models)[number]) => number): number => models.reduce((all, one) => all + of(one), 0)
  return {
    inputTokens: sum((one) => one.inputTokens + one.cacheReadInputTokens + one.cacheCreationInputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    requests: counted.requests ?? 0,
    cacheReadTokens: sum(({ cacheReadInputTokens }) => cacheReadInputTokens),
    cacheWriteTokens: sum(({ cacheCreationInputTokens }) => cacheCreationInputTokens),
    costUsd: sum(({ costUSD }) => costUSD),
  }
}

/** The result's own sum is of the main thread only, so what was counted of all threads may be more. */
const mainTotals = ({ usage, total_cost_usd }: ClaudeResult, { isResumed, counted }: LaunchFacts) => {
  const costUsd = isResumed ? undefined : total_cost_usd
  if (usage === undefined && costUsd === undefined && counted.requests === 0) return undefined
  return defined({
    inputTokens: Math.max(usage ? promptOf(usage) : 0, counted.inputTokens),
    outputTokens: Math.max(usage?.output_tokens ?? 0, counted.outputTokens),
    requests: counted.requests,
    cacheReadTokens: Math.max(usage?.cache_read_input_tokens ?? 0, counted.cacheReadTokens ?? 0),
    cacheWriteTokens: Math.max(usage?.cache_creation_input_tokens ?? 0, counted.cacheWriteTokens ?? 0),
    costUsd,
  })
}
