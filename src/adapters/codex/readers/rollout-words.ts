import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RecordedText, RecordedWords } from '../../../ports/agent/window-reader.ts'
import { codexOriginIn } from './codex-origin.ts'

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

/** The words in a line of a rollout. Instructions by the developer are no part of the conversation. */
export const rolloutWords = (record: unknown): RecordedWords => {
  const parsed = line.safeParse(record)
  if (!parsed.success) return { texts: [] }
  if (parsed.data.type === 'session_meta') return { session: parsed.data.payload.id, texts: [] }
  const { type, role, content, output, id, call_id } = parsed.data.payload
  const by = type === 'message' ? role : 'tool'
  if (!isSpeaker(by)) return { texts: [] }
  const spoken = type === 'message' ? spokenIn(by, content) : typeof output === 'string' ? [{ text: output }] : []
  const texts = spoken.filter(({ text }) => text !== '')
  return { texts: texts.map((part) => defined({ role: by, ...part, id: call_id ?? id })) }
}

const isSpeaker = (role: unknown): role is RecordedText['role'] =>
  role === 'user' || role === 'assistant' || role === 'tool'

/** The parts of a message, together where they have one origin: Codex adds its own to what a person says. */
const spokenIn = (
  by: RecordedText['role'],
  content: readonly unknown[],
): readonly Pick<RecordedText, 'text' | 'origin'>[] => {
  const parts = content
    .map((raw) => part.safeParse(raw))
    .flatMap((parsed) => (parsed.success ? [parsed.data.text] : []))
    .map((text) => defined({ text, origin: by === 'user' ? codexOriginIn(text) : undefined }))
  const joined: Pick<RecordedText, 'text' | 'origin'>[] = []
  for (const next of parts) {
    const last = joined.at(-1)
    if (last === undefined || last.origin !== next.origin) joined.push(next)
    else joined[joined.length - 1] = { ...last, text: `${last.text}\n\n${next.text}` }
  }
  return joined
}
