import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { type Instant, instantIn } from '../../../domain/kernel/instant.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { WindowReader } from '../../../ports/agent/window-reader.ts'
import { compactionPoint } from '../settings/compaction-point.ts'
import {
  assistantMessage,
  type ClaudeMessageShapes,
  charactersOf,
  counters,
  lastIteration,
  promptOf,
  readAssistant,
} from './claude-message.ts'
import { endOf, resultIn } from './claude-result.ts'
import { ClaudeUsage } from './claude-usage.ts'
import { claudeWords } from './claude-words.ts'
import { readContextUsage } from './context-usage.ts'

const common = {
  uuid: z.string().optional(),
  session_id: z.string().optional(),
  parent_tool_use_id: z.string().nullish(),
  agent_id: z.string().nullish(),
}

const message = z.discriminatedUnion('type', [
  z.looseObject({ ...common, type: z.literal('assistant'), message: assistantMessage }),
  z.looseObject({
    ...common,
    type: z.literal('user'),
    message: z.looseObject({ content: z.unknown().optional() }),
  }),
  z.looseObject({
    ...common,
    type: z.literal('system'),
    subtype: z.string(),
    model: z.string().optional(),
    status: z.string().nullish(),
    compact_metadata: z.unknown().optional(),
  }),
  z.looseObject({ ...common, type: z.literal('stream_event'), event: z.unknown() }),
  z.looseObject({ ...common, type: z.literal('result'), modelUsage: z.record(z.string(), z.unknown()).catch({}) }),
  z.looseObject({ ...common, type: z.literal('conversation_reset') }),
])

type SdkMessage = z.output<typeof message>
type Of<Type extends SdkMessage['type']> = Extract<SdkMessage, { type: Type }>

const recognised = z.looseObject({
  type: z.enum(['assistant', 'user', 'system', 'stream_event', 'result', 'conversation_reset']),
  session_id: z.string(),
})

/**
 * Reads messages of the Claude Agent SDK, and of `claude -p --output-format stream-json`, which are the same.
 *
 * @example
 * ```ts
 * const gauge = new WindowGauge()
 * const usage = { input_tokens: 5, cache_read_input_tokens: 96_000, output_tokens: 9_000 }
 * const answer = { type: 'assistant', session_id: 's', message: { id: 'msg_1', model: 'claude-haiku-4-5', usage } }
 * const result = { type: 'result', session_id: 's', modelUsage: { 'claude-haiku-4-5': { contextWindow: 200_000 } } }
 * for (const message of [answer, result]) gauge.take(agentSdkReader.read(message))
 * console.log(gauge.history().lastContext, gauge.windowParts().hardLimit?.tokens) // => 96005 200000
 * ```
 */
export const agentSdkReader: WindowReader = {
  format: 'claude-agent-sdk',
  recognises: (record) => recognised.safeParse(record).success,
  read: (record) => {
    const parsed = message.safeParse(record)
    return parsed.success ? readMessage(parsed.data) : []
  },
  known: (variables) => compactionPoint(variables),
  words: claudeWords,
  usage: () => new ClaudeUsage(),
  ending: (record) => {
    const result = resultIn(record)
    return result && { end: endOf(result, false), isFinal: true }
  },
}

const readMessage = (sent: SdkMessage): readonly WindowEvent[] => {
  const at = instantIn(sent.timestamp)
  if (sent.parent_tool_use_id || sent.agent_id) return readSubagent(sent, at)
  switch (sent.type) {
    case 'assistant':
      return [...readAssistant(sent.message, { at, key: sent.uuid }), ...readContextUsage(sent.context_usage, at)]
    case 'user':
      return [
        defined({
          type: 'appended' as const,
          characters: charactersOf(sent.message.content),
          key: sent.uuid,
          at,
        }),
      ]
    case 'system':
      return readSystem(sent, at)
    case 'stream_event':
      return readPartial(sent, at)
    case 'result':
      return readResult(sent, at)
    case 'conversation_reset':
      return [defined({ type: 'cleared' as const, key: sent.uuid, at })]
    default:
      return sent satisfies never
  }
}

/** A subagent has a window of its own: only that it answered is worth knowing. */
const readSubagent = (sent: SdkMessage, at?: Instant): readonly WindowEvent[] =>
  sent.type === 'assistant' ? subagentRequest(sent.message.id ?? sent.uuid, at) : []

const subagentRequest = (key: string | undefined, at?: Instant): readonly WindowEvent[] =>
  key === undefined ? [] : [defined({ type: 'subagent_request' as const, key, at })]

const compactMetadata = z.looseObject({
  trigger: z.enum(['auto', 'manual', 'unknown']).catch('unknown'),
  pre_tokens: z.number().nonnegative().optional().catch(undefined),
})

const readSystem = (sent: Of<'system'>, at?: Instant): readonly WindowEvent[] => {
  const { subtype, model, status, uuid: key } = sent
  if (subtype === 'init' && model !== undefined) return [defined({ type: 'model' as const, model, at })]
  // `requesting` comes with every request; only this one means that the window is being rewritten.
  if (subtype === 'status' && status === 'compacting') return [defined({ type: 'compacting' as const, key, at })]
  if (subtype !== 'compact_boundary') return []
  const { trigger, pre_tokens: preTokens } = compactMetadata
    .catch({ trigger: 'unknown', pre_tokens: undefined })
    .parse(sent.compact_metadata)
  return [defined({ type: 'compaction' as const, trigger, preTokens, key, at })]
}

const partial = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message_start'), message: assistantMessage }),
  z.looseObject({
    type: z.literal('message_delta'),
    usage: counters.pick({ output_tokens: true }).extend({ iterations: z.array(z.unknown()).nullish() }),
  }),
])

/** The start of a streamed answer has the true input side, and its last delta the true output. */
const readPartial = (sent: Of<'stream_event'>, at?: Instant): readonly WindowEvent[] => {
  const parsed = partial.safeParse(sent.event)
  if (!parsed.success) return []
  if (parsed.data.type === 'message_start') return readAssistant({ ...parsed.data.message, content: [] }, { at })
  const { output_tokens, iterations } = parsed.data.usage
  const sample = lastIteration(iterations)
  const outputTokens = sample?.output_tokens ?? output_tokens
  const promptTokens = sample && promptOf(sample)
  return [defined({ type: 'answered' as const, outputTokens, promptTokens, key: sent.uuid, at })]
}

const modelUsage = z.looseObject({ contextWindow: z.number().positive(), canonicalModel: z.string().optional() })

/** A result sums over requests, which is accounting. Only the window of each model is worth keeping. */
const readResult = ({ modelUsage: models }: Of<'result'>, at?: Instant): readonly WindowEvent[] =>
  Object.entries(models).flatMap(([model, raw]) => {
    const parsed = modelUsage.safeParse(raw)
    if (!parsed.success) return []
    const { contextWindow: tokens, canonicalModel } = parsed.data
    const named = [model, ...(canonicalModel === undefined ? [] : [canonicalModel])]
    return [defined({ type: 'window' as const, tokens, models: named, at })]
  })

/** The parts of the SDK's messages that we read, as they arrive. `test/agents` holds it against the SDK's own types. */
export interface AgentSdkShapes extends ClaudeMessageShapes {
  readonly message: z.input<typeof message>
  readonly compactMetadata: z.input<typeof compactMetadata>
  readonly partial: z.input<typeof partial>
  readonly modelUsage: z.input<typeof modelUsage>
}
