import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { type Instant, instantIn } from '../../../domain/kernel/instant.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { WindowReader } from '../../../ports/agent/window-reader.ts'
import { compactionPoint } from '../settings/compaction-point.ts'
import { assistantMessage, charactersOf, readAssistant } from './claude-message.ts'
import { isByClaude } from './claude-origin.ts'
import { ClaudeUsage } from './claude-usage.ts'
import { claudeWords } from './claude-words.ts'

const line = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string().optional(),
  isSidechain: z.boolean().optional(),
  message: z.unknown().optional(),
  data: z.unknown().optional(),
  compactMetadata: z.unknown().optional(),
})

type Line = z.output<typeof line>

const userMessage = z.looseObject({ content: z.unknown().optional() })
const compactMetadata = z.looseObject({
  trigger: z.enum(['auto', 'manual', 'unknown']).catch('unknown'),
  preTokens: z.number().nonnegative().optional().catch(undefined),
})
/** A subagent's message, wrapped in a progress record of the main thread. */
const agentProgress = z.looseObject({
  type: z.literal('agent_progress'),
  message: z.looseObject({ type: z.literal('assistant'), message: z.looseObject({ id: z.string() }) }),
})

/**
 * Reads Claude Code's own transcript, `~/.claude/projects/…/<session>.jsonl`, in all layouts it has had.
 *
 * Subagents are left out wherever they are written: among the others, in files of their own, or in progress records. A
 * `microcompact_boundary` says nothing: the window gets smaller with the next request, and no cycle ends.
 *
 * @example
 * ```ts
 * const usage = { input_tokens: 2, cache_read_input_tokens: 12_000, cache_creation_input_tokens: 185_000, output_tokens: 40 }
 * const [event] = transcriptReader.read({ type: 'assistant', message: { id: 'msg_1', content: [], usage } })
 * console.log(event?.type === 'request' && event.promptTokens) // => 197002
 * ```
 */
export const transcriptReader: WindowReader = {
  format: 'claude-code',
  recognises: (record) => named.safeParse(record).success || title.safeParse(record).success,
  read: (record) => {
    const parsed = line.safeParse(record)
    return parsed.success ? readLine(parsed.data) : []
  },
  known: (variables) => compactionPoint(variables),
  words: claudeWords,
  isOwnPrompt: isByClaude,
  usage: () => new ClaudeUsage(),
}

const named = z.looseObject({ sessionId: z.string(), uuid: z.string() })

/** Records that often stand first in a file. Summaries are titles of sessions, and not compactions. */
const title = z.looseObject({ type: z.enum(['summary', 'file-history-snapshot', 'queue-operation']) })

const readLine = (record: Line): readonly WindowEvent[] => {
  const at = instantIn(record.timestamp)
  if (record.type === 'assistant') return readAnswer(record, at)
  if (record.type === 'progress') return readProgress(record.data, at)
  if (record.isSidechain === true) return []
  if (record.type === 'user') return readUser(record, at)
  return record.type === 'system' && record.subtype === 'compact_boundary' ? [readBoundary(record, at)] : []
}

const readAnswer = ({ isSidechain, message: raw, uuid }: Line, at?: Instant): readonly WindowEvent[] => {
  const message = assistantMessage.safeParse(raw)
  if (!message.success) return []
  if (isSidechain !== true) return readAssistant(message.data, { at, key: uuid })
  const key = message.data.id ?? uuid
  return key === undefined ? [] : [defined({ type: 'subagent_request' as const, key, at })]
}

const readProgress = (data: unknown, at?: Instant): readonly WindowEvent[] => {
  const nested = agentProgress.safeParse(data)
  return nested.success ? [defined({ type: 'subagent_request' as const, key: nested.data.message.message.id, at })] : []
}

const readUser = ({ message: raw, uuid: key }: Line, at?: Instant): readonly WindowEvent[] => {
  const message = userMessage.safeParse(raw)
  if (!message.success) return []
  return [defined({ type: 'appended' as const, characters: charactersOf(message.data.content), key, at })]
}

const readBoundary = ({ compactMetadata: raw, uuid: key }: Line, at?: Instant): WindowEvent => {
  const { trigger, preTokens } = compactMetadata.catch({ trigger: 'unknown', preTokens: undefined }).parse(raw)
  return defined({ type: 'compaction' as const, trigger, preTokens, key, at })
}
