import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import {
  type AgentSessionId,
  agentSessionId,
  type ConversationId,
  conversationId,
  type HandoffId,
  handoffId,
  messageId,
  type TurnId,
  turnId,
} from '../../../domain/kernel/ids.ts'
import { type Instant, instant } from '../../../domain/kernel/instant.ts'
import type { Metadata } from '../../../domain/kernel/metadata.ts'
import { sequenceNumber } from '../../../domain/kernel/sequence.ts'
import type { ContextWindow } from '../../../domain/session/agent-session.ts'
import { READING_SEMANTICS } from '../../../domain/window/usage-reading.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'

/** Columns of the kinds that several tables share, as they read back from JSON. */
export const time = z.string().transform((text): Instant => instant(text))
export const place = z.number().transform(sequenceNumber)
export const aConversation = z.string().transform((text): ConversationId => conversationId(text))
export const aSession = z.string().transform((text): AgentSessionId => agentSessionId(text))
export const aHandoff = z.string().transform((text): HandoffId => handoffId(text))
export const aTurn = z.string().transform((text): TurnId => turnId(text))

/** A caller's own note. It was checked when it came, and is not taken apart here. */
export const note = z.custom<Metadata>((value) => typeof value === 'object' && value !== null)

/** A column that may be NULL: inside, an absent fact is absent. */
export const maybe = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined)

const provenance = z.strictObject({
  runtime: z.string(),
  source: z.string(),
  semantics: z.enum(READING_SEMANTICS),
})

export const usage = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('unknown') }),
  z.strictObject({
    state: z.literal('metered'),
    promptTokens: z.number(),
    outputTokens: z.number(),
    pendingTokens: z.number().exactOptional(),
    provenance: provenance.exactOptional(),
  }),
  z.strictObject({
    state: z.literal('percentage'),
    usedPercent: z.number(),
    provenance: provenance.exactOptional(),
  }),
])

export const toolCall = z.object({
  callId: z.string(),
  toolName: z.string(),
  argument: z.string().exactOptional(),
  messageId: z.string().transform(messageId),
  sequenceNumber: place,
})

/** Usage in sum. */
export const totalsRow = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  requests: z.number().exactOptional(),
  cacheReadTokens: z.number().exactOptional(),
  cacheWriteTokens: z.number().exactOptional(),
  costUsd: z.number().exactOptional(),
  estimatedUsd: z.number().exactOptional(),
})

/** The content of a window, as columns. */
export const windowColumns = {
  window_start: maybe(place),
  window_end: maybe(place),
  window_user: z.number(),
  window_assistant: z.number(),
  window_tool: z.number(),
  window_system: z.number(),
  window_usage: usage,
}

export const toWindow = (row: z.output<z.ZodObject<typeof windowColumns>>): ContextWindow => {
  const { window_start: start, window_end: end } = row
  return defined({
    messages: {
      user: row.window_user,
      assistant: row.window_assistant,
      tool: row.window_tool,
      system: row.window_system,
    },
    range: start === undefined || end === undefined ? undefined : { start, end },
    usage: row.window_usage,
  })
}

export const fromWindow = ({ messages, range, usage: reading }: ContextWindow) => ({
  window_start: range?.start,
  window_end: range?.end,
  window_user: messages.user,
  window_assistant: messages.assistant,
  window_tool: messages.tool,
  window_system: messages.system,
  window_usage: reading,
})

/** Reads a row into the domain, refusing one the domain could not have written. */
export const reader =
  <T>(what: string, schema: z.ZodType<T>) =>
  (raw: unknown): T => {
    try {
      return schema.parse(raw)
    } catch (cause) {
      const detail = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause)
      const problem = `A stored ${what} is not one this program could have written: ${detail}`
      throw new StoreFailure('store.integrity', problem, { cause })
    }
  }
