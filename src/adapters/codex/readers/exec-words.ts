import { z } from 'zod'
import type { RecordedText, RecordedWords } from '../../../ports/agent/window-reader.ts'

const completed = z.looseObject({
  type: z.literal('item.completed'),
  item: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('agent_message'), text: z.string() }),
    z.looseObject({ type: z.literal('command_execution'), aggregated_output: z.string() }),
  ]),
})

/** The words in an event: answers, and the output of commands. */
export const execTexts = (event: unknown): readonly RecordedText[] => {
  const parsed = completed.safeParse(event)
  if (!parsed.success) return []
  const { item } = parsed.data
  const text: RecordedText =
    item.type === 'agent_message'
      ? { role: 'assistant', text: item.text }
      : { role: 'tool', text: item.aggregated_output }
  return text.text === '' ? [] : [text]
}

const begun = z.looseObject({ type: z.literal('thread.started'), thread_id: z.string() })

/** The texts of an event, and the thread that it names. */
export const execWords = (event: unknown): RecordedWords => {
  const parsed = begun.safeParse(event)
  return parsed.success ? { session: parsed.data.thread_id, texts: [] } : { texts: execTexts(event) }
}
