import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RecordedText, RecordedWords } from '../../../ports/agent/window-reader.ts'
import { claudeOriginIn, commandIn } from './claude-origin.ts'

const text = z.looseObject({ type: z.literal('text'), text: z.string() })
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().optional().catch(undefined),
  content: z.unknown().optional(),
})

const line = z.looseObject({
  type: z.string(),
  sessionId: z.string().optional().catch(undefined),
  session_id: z.string().optional().catch(undefined),
  isSidechain: z.boolean().optional().catch(undefined),
  parent_tool_use_id: z.unknown().optional(),
  agent_id: z.unknown().optional(),
  message: z
    .looseObject({ id: z.string().optional().catch(undefined), content: z.unknown().optional() })
    .optional()
    .catch(undefined),
  attachment: z
    .looseObject({ type: z.literal('queued_command'), prompt: z.unknown(), commandMode: z.string().optional() })
    .optional()
    .catch(undefined),
})

/** The words in a record of either of Claude's streams; a subagent's words are not the main thread's. */
export const claudeWords = (record: unknown): RecordedWords => {
  const parsed = line.safeParse(record)
  if (!parsed.success) return { texts: [] }
  const { type, sessionId, session_id, isSidechain, parent_tool_use_id, agent_id, message, attachment } = parsed.data
  const session = sessionId ?? session_id
  if (isSidechain === true || parent_tool_use_id || agent_id) return defined({ session, texts: [] })
  // A prompt that came while tools ran is written down beside their results, and is no message of its own.
  if (type === 'attachment' && attachment !== undefined && attachment.commandMode !== 'task-notification')
    return defined({ session, texts: textsOf('user', attachment, { content: attachment.prompt }) })
  const isOwn = type === 'user' || type === 'assistant'
  return defined({ session, texts: isOwn ? textsOf(type, record, message) : [] })
}

const textsOf = (
  role: 'user' | 'assistant',
  record: unknown,
  { id, content }: { readonly id?: string | undefined; readonly content?: unknown } = {},
): readonly RecordedText[] => {
  const originOf = role === 'user' ? claudeOriginIn(record) : () => undefined
  const spoken = (written: string): RecordedText => {
    const words = role === 'user' ? (commandIn(written) ?? written) : written
    return defined({ role, text: words, origin: originOf(words), id })
  }
  if (typeof content === 'string') return content === '' ? [] : [spoken(content)]
  if (!Array.isArray(content)) return []
  return content.flatMap((block: unknown): RecordedText[] => {
    const parsed = text.safeParse(block)
    if (parsed.success) return parsed.data.text === '' ? [] : [spoken(parsed.data.text)]
    const answered = toolResult.safeParse(block)
    if (!answered.success) return []
    return [defined({ role: 'tool' as const, text: resultOf(answered.data.content), id: answered.data.tool_use_id })]
  })
}

const resultOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  return blocks
    .map((block) => text.safeParse(block))
    .flatMap((parsed) => (parsed.success ? [parsed.data.text] : []))
    .join('\n\n')
}
