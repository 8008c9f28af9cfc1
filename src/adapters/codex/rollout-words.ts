import { z } from 'zod'
import { defined } from '../../domain/defined.ts'
import type { RecordedText, RecordedWords } from '../../ports/window-reader.ts'

const part = z.looseObject({ text: z.string() })

const line = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('session_meta'), payload: z.looseObject({ id: z.string() }) }),
  z.looseObject({
    type: z.literal('response_item'),
    payload: z.looseObject({
      type: z.string(),
      role: z.string().optional(),
      id: z.string().optional().catch(undefined),
      call_id: z.string().optional().catch(undefined),
      content: z.array(z.unknown()).catch([]),
      output: z.unknown().optional(),
    }),
  }),
])

/** What a line of a rollout says in words. Instructions by the developer are no part of the conversation. */
export const rolloutWords = (record: unknown): RecordedWords => {
  const parsed = line.safeParse(record)
  if (!parsed.success) return { texts: [] }
  if (parsed.data.type === 'session_meta') return { session: parsed.data.payload.id, texts: [] }
  const { type, role, content, output, id, call_id } = parsed.data.payload
  const text = type === 'message' ? textIn(content) : output
  const by = type === 'message' ? role : 'tool'
  return defined({
    texts:
      isSpeaker(by) && typeof text === 'string' && text !== '' ? [defined({ role: by, text, id: call_id ?? id })] : [],
  })
}

const isSpeaker = (role: unknown): role is RecordedText['role'] =>
  role === 'user' || role === 'assistant' || role === 'tool'

const textIn = (content: readonly unknown[]): string =>
  content
    .map((raw) => part.safeParse(raw))
    .flatMap((parsed) => (parsed.success ? [parsed.data.text] : []))
    .join('\n\n')
