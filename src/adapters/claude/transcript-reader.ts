import { z } from 'zod'
import { defined } from '../../domain/defined.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { WindowEvent } from '../../domain/window-event.ts'
import type { WindowReader } from '../../ports/window-reader.ts'
import { assistantMessage, charactersOf, readAssistant } from './claude-message.ts'

const line = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  isSidechain: z.boolean().optional(),
  timestamp: z.string().optional(),
  message: z.unknown().optional(),
  data: z.unknown().optional(),
  compactMetadata: z.unknown().optional(),
})

const userMessage = z.looseObject({ content: z.unknown().optional() })
const compactMetadata = z.looseObject({
  trigger: z.enum(['auto', 'manual', 'unknown']).catch('unknown'),
  preTokens: z.number().optional(),
})
/** A subagent's message, wrapped in a progress record of the main thread. */
const agentProgress = z.looseObject({
  type: z.literal('agent_progress'),
  message: z.looseObject({ type: z.literal('assistant'), message: z.looseObject({ id: z.string() }) }),
})

/** Claude Code's own transcript, `~/.claude/projects/…/<session>.jsonl`, in all layouts it has had. */
export const transcriptReader: WindowReader = {
  format: 'claude-code',
  recognises: (record) =>
    z.looseObject({ sessionId: z.string(), uuid: z.string() }).safeParse(record).success || isTitle(record),
  read: (record) => {
    const parsed = line.safeParse(record)
    return parsed.success ? readLine(parsed.data) : []
  },
}

/** Titles of other sessions, often the first lines of a file. They are not compactions. */
const isTitle = (record: unknown): boolean =>
  z.looseObject({ type: z.enum(['summary', 'file-history-snapshot', 'queue-operation']) }).safeParse(record).success

const readLine = (record: z.output<typeof line>): readonly WindowEvent[] => {
  const at = timeOf(record.timestamp)
  if (record.type === 'assistant') return readAnswer(record, at)
  if (record.type === 'progress') return readProgress(record.data, at)
  if (record.isSidechain === true) return []
  if (record.type === 'user') return readUser(record.message, at)
  if (record.type === 'system' && record.subtype === 'compact_boundary') {
    const { trigger, preTokens } = compactMetadata.catch({ trigger: 'unknown' }).parse(record.compactMetadata)
    return [defined({ type: 'compaction' as const, trigger, preTokens, at })]
  }
  return []
}

const readAnswer = ({ isSidechain, message: raw }: z.output<typeof line>, at?: Instant): readonly WindowEvent[] => {
  const message = assistantMessage.safeParse(raw)
  if (!message.success) return []
  return isSidechain === true
    ? [defined({ type: 'subagent_request' as const, key: message.data.id, at })]
    : readAssistant(message.data, at)
}

const readProgress = (data: unknown, at?: Instant): readonly WindowEvent[] => {
  const nested = agentProgress.safeParse(data)
  return nested.success ? [defined({ type: 'subagent_request' as const, key: nested.data.message.message.id, at })] : []
}

const readUser = (raw: unknown, at?: Instant): readonly WindowEvent[] => {
  const message = userMessage.safeParse(raw)
  return message.success
    ? [defined({ type: 'appended' as const, characters: charactersOf(message.data.content), at })]
    : []
}

/** The producer's own clock; a time that cannot be read is no time. */
export const timeOf = (text: string | undefined): Instant | undefined =>
  text === undefined || Number.isNaN(Date.parse(text)) ? undefined : instant(text)
