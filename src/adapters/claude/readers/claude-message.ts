import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import { argumentIn } from '../../../domain/turn/tool-argument.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'

const count = z.number().int().nonnegative()
const maybeCount = count.nullish().transform((value) => value ?? 0)

/** One request's counters. `input_tokens` is the uncached tail only. */
export const counters = z.object({
  input_tokens: count,
  output_tokens: maybeCount,
  cache_creation_input_tokens: maybeCount,
  cache_read_input_tokens: maybeCount,
})

type Counters = z.output<typeof counters>

const iteration = z.looseObject({
  type: z.string(),
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
})

const usage = counters.extend({ iterations: z.array(z.unknown()).nullish() })

const block = z.looseObject({ type: z.string() })
/** Some programs that write this format name neither the call nor the tool. */
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  input: z.unknown().optional(),
})

/** An assistant message as the API and both of its wrappers give it. Unknown fields and blocks are let through. */
export const assistantMessage = z.looseObject({
  id: z.string().optional().catch(undefined),
  model: z.string().optional(),
  content: z.array(block).catch([]),
  usage: z.unknown().optional(),
  stop_reason: z.string().nullish().catch(null),
})

/** The parts of an assistant message that we read, as they arrive. */
export interface ClaudeMessageShapes {
  readonly usage: z.input<typeof usage>
  readonly iteration: z.input<typeof iteration>
  readonly toolUse: z.input<typeof toolUse>
}

/** Local messages (errors, interrupts) carry this in place of a model, and no usage worth reading. */
export const SYNTHETIC = '<synthetic>'

/** When a record was written, and its own name: one message comes in several records, a block in each. */
export interface RecordOrigin {
  readonly at?: Instant | undefined
  readonly key?: string | undefined
}

/** The events of an assistant message of the main thread. */
export const readAssistant = (
  message: z.output<typeof assistantMessage>,
  { at, key }: RecordOrigin = {},
): readonly WindowEvent[] => {
  if (message.model === SYNTHETIC) return []
  const tools = message.content.flatMap((part): WindowEvent[] => {
    const call = toolUse.safeParse(part)
    if (!call.success) return []
    const { id: callId, name: toolName = '', input } = call.data
    return [defined({ type: 'tool_call' as const, callId, toolName, argument: argumentIn(input), at })]
  })
  return [...readAnswer(message, { at, key }), ...tools]
}

const readAnswer = (message: z.output<typeof assistantMessage>, { at, key }: RecordOrigin): readonly WindowEvent[] => {
  const request = [message.id, key].find((name) => name !== undefined && name.trim() !== '')
  const usageEvent = readUsage(message, request, at)
  const characters = answerCharacters(message.content)
  if (usageEvent.type !== 'request' || usageEvent.isComplete === true || characters === 0) return [usageEvent]
  return [usageEvent, defined({ type: 'answer_text' as const, request: usageEvent.key, characters, key, at })]
}

/** The length of the parts of an answer that the next request sends again: text, thinking, and the input of tools. */
export const answerCharacters = (content: readonly z.output<typeof block>[]): number =>
  content.reduce((sum, { text, thinking, input }) => {
    const words = [text, thinking].reduce<number>((all, part) => all + (typeof part === 'string' ? part.length : 0), 0)
    return sum + words + lengthAsJson(input)
  }, 0)

const lengthAsJson = (value: unknown): number => {
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    return 0 // too deep to be written down
  }
}

const readUsage = (
  { model, usage: raw, stop_reason }: z.output<typeof assistantMessage>,
  key: string | undefined,
  at?: Instant,
): Extract<WindowEvent, { type: 'request' | 'unmetered' }> => {
  const parsed = usage.safeParse(raw)
  const sample = parsed.success ? (lastIteration(parsed.data.iterations) ?? parsed.data) : undefined
  const promptTokens = sample && promptOf(sample)
  // All zero is not a reading: nothing was sent.
  if (sample === undefined || !promptTokens || key === undefined)
    return defined({ type: 'unmetered' as const, key, model, at })
  // A reason to stop is known when the answer is whole, and so is its count.
  const isComplete = typeof stop_reason === 'string' ? true : undefined
  const { output_tokens: outputTokens } = sample
  return defined({ type: 'request' as const, key, model, promptTokens, outputTokens, isComplete, at })
}

/** Everything a request sent. */
export const promptOf = (sample: Counters): number =>
  sample.input_tokens + sample.cache_creation_input_tokens + sample.cache_read_input_tokens

/** A server-side tool loop sums its iterations; the window is what the last sampling of it held. */
export const lastIteration = (iterations: readonly unknown[] | null | undefined): Counters | undefined =>
  (iterations ?? [])
    .map((raw) => iteration.safeParse(raw))
    .flatMap((parsed) =>
      parsed.success && ['message', 'fallback_message'].includes(parsed.data.type) ? [parsed.data] : [],
    )
    .at(-1)

/** Messages hold blocks, and a tool's result holds blocks of its own; nothing deeper is text that was sent. */
const DEEPEST = 2

/** How much text a user message adds to the window: prompts and tool results. */
export const charactersOf = (content: unknown, depth: number = 0): number => {
  if (typeof content === 'string') return content.length
  if (!Array.isArray(content) || depth >= DEEPEST) return 0
  return content.reduce<number>((sum, part: unknown) => {
    const { text, content: inner } = (typeof part === 'object' && part !== null ? part : {}) as Record<string, unknown>
    return sum + (typeof text === 'string' ? text.length : 0) + charactersOf(inner, depth + 1)
  }, 0)
}
