import { z } from 'zod'
import { defined } from '../../domain/defined.ts'
import type { WindowEvent } from '../../domain/window-event.ts'
import type { WindowReader } from '../../ports/window-reader.ts'
import { assistantMessage, type ClaudeMessageShapes, charactersOf, readAssistant } from './claude-message.ts'
import { timeOf } from './transcript-reader.ts'

const common = { uuid: z.string().optional(), session_id: z.string(), timestamp: z.string().optional() }

const message = z.discriminatedUnion('type', [
  z.looseObject({
    ...common,
    type: z.literal('assistant'),
    message: assistantMessage,
    parent_tool_use_id: z.string().nullish(),
    agent_id: z.string().optional(),
  }),
  z.looseObject({
    ...common,
    session_id: z.string().optional(),
    type: z.literal('user'),
    message: z.looseObject({ content: z.unknown().optional() }),
    parent_tool_use_id: z.string().nullish(),
  }),
  z.looseObject({
    ...common,
    type: z.literal('system'),
    subtype: z.string(),
    model: z.string().optional(),
    status: z.string().nullish(),
    compact_metadata: z.unknown().optional(),
  }),
  z.looseObject({
    ...common,
    type: z.literal('stream_event'),
    event: z.unknown(),
    parent_tool_use_id: z.string().nullish(),
  }),
  z.looseObject({ ...common, type: z.literal('result'), modelUsage: z.record(z.string(), z.unknown()).catch({}) }),
  z.looseObject({ ...common, type: z.literal('conversation_reset') }),
])

type SdkMessage = z.output<typeof message>
type Of<Type extends SdkMessage['type']> = Extract<SdkMessage, { type: Type }>

const TYPES = new Set(['assistant', 'user', 'system', 'stream_event', 'result', 'conversation_reset'])

/** Messages of the Claude Agent SDK, and of `claude -p --output-format stream-json`, which are the same. */
export const agentSdkReader: WindowReader = {
  format: 'claude-agent-sdk',
  recognises: (record) =>
    z.looseObject({ type: z.string().refine((type) => TYPES.has(type)), session_id: z.string() }).safeParse(record)
      .success,
  read: (record) => {
    const parsed = message.safeParse(record)
    return parsed.success ? readMessage(parsed.data) : []
  },
}

const readMessage = (sent: SdkMessage): readonly WindowEvent[] => {
  switch (sent.type) {
    case 'assistant':
      return readAnswer(sent)
    case 'user':
      return sent.parent_tool_use_id
        ? []
        : [
            defined({
              type: 'appended' as const,
              characters: charactersOf(sent.message.content),
              at: timeOf(sent.timestamp),
            }),
          ]
    case 'system':
      return readSystem(sent)
    case 'stream_event':
      return sent.parent_tool_use_id ? [] : readPartial(sent)
    case 'result':
      return readResult(sent)
    case 'conversation_reset':
      return [defined({ type: 'cleared' as const, at: timeOf(sent.timestamp) })]
    default:
      return sent satisfies never
  }
}

const readAnswer = (sent: Of<'assistant'>): readonly WindowEvent[] => {
  const at = timeOf(sent.timestamp)
  const isSubagent = Boolean(sent.parent_tool_use_id) || sent.agent_id !== undefined
  return isSubagent
    ? [defined({ type: 'subagent_request' as const, key: sent.message.id, at })]
    : readAssistant(sent.message, at)
}

const compactMetadata = z.looseObject({
  trigger: z.enum(['auto', 'manual', 'unknown']).catch('unknown'),
  pre_tokens: z.number().optional(),
})

const readSystem = (sent: Of<'system'>): readonly WindowEvent[] => {
  const at = timeOf(sent.timestamp)
  if (sent.subtype === 'init' && sent.model !== undefined)
    return [defined({ type: 'model' as const, model: sent.model, at })]
  // `requesting` comes with every request; only this one means that the window is being rewritten.
  if (sent.subtype === 'status' && sent.status === 'compacting') return [defined({ type: 'compacting' as const, at })]
  if (sent.subtype !== 'compact_boundary') return []
  const { trigger, pre_tokens: preTokens } = compactMetadata.catch({ trigger: 'unknown' }).parse(sent.compact_metadata)
  return [defined({ type: 'compaction' as const, trigger, preTokens, at })]
}

const started = z.looseObject({ type: z.literal('message_start'), message: assistantMessage })

/** The start of a streamed answer has the true input side; the whole message follows and corrects the output. */
const readPartial = (sent: Of<'stream_event'>): readonly WindowEvent[] => {
  const begun = started.safeParse(sent.event)
  return begun.success ? readAssistant({ ...begun.data.message, content: [] }, timeOf(sent.timestamp)) : []
}

const modelUsage = z.looseObject({ contextWindow: z.number().positive(), canonicalModel: z.string().optional() })

/** A result sums over requests, which is accounting. Only the window of each model is worth keeping. */
const readResult = ({ modelUsage: models, timestamp }: Of<'result'>): readonly WindowEvent[] =>
  Object.entries(models).flatMap(([model, raw]) => {
    const parsed = modelUsage.safeParse(raw)
    if (!parsed.success) return []
    const { contextWindow: tokens, canonicalModel } = parsed.data
    return [
      defined({
        type: 'window' as const,
        tokens,
        models: [model, ...(canonicalModel === undefined ? [] : [canonicalModel])],
        at: timeOf(timestamp),
      }),
    ]
  })

/** What is read of the SDK's messages, part by part, as it arrives. `test/agents` holds it against the SDK's own types. */
export interface AgentSdkShapes extends ClaudeMessageShapes {
  readonly message: z.input<typeof message>
  readonly compactMetadata: z.input<typeof compactMetadata>
  readonly started: z.input<typeof started>
  readonly modelUsage: z.input<typeof modelUsage>
}
