import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

/** What a long recording holds. */
export interface LongRecording {
  readonly turns: number
  readonly compactions: number
  readonly bytes: number
}

const TEXT = 'The quick brown fox jumps over the lazy dog, and then over the other one. '.repeat(14)

/** Writes a transcript of about so many bytes: three records a turn, a compaction every 150 turns. */
export const writeLongRecording = async (file: string, wanted: number): Promise<LongRecording> => {
  const out = createWriteStream(file)
  let [bytes, turns, compactions] = [0, 0, 0]
  while (bytes < wanted) {
    const part = turnText(turns)
    turns += 1
    compactions += turns % 150 === 0 ? 1 : 0
    bytes += part.length
    if (!out.write(part)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
  return { turns, compactions, bytes }
}

/** What the window holds at a turn of a long recording: it grows by 1,000 from 10,000, and begins again. */
export const contextAt = (turn: number): number => 10_000 + (turn % 150) * 1_000

const turnText = (turn: number): string => {
  const common = { sessionId: 'long', isSidechain: false, timestamp: '2026-11-16T09:00:00.000Z' }
  const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: contextAt(turn) }
  const answer = (output: number, content: readonly object[]) => ({
    ...common,
    type: 'assistant',
    uuid: `a${turn}-${output}`,
    message: { id: `msg_${turn}`, model: 'claude-haiku-4-5', content, usage: { ...usage, output_tokens: output } },
  })
  const asked = { ...common, type: 'user', uuid: `u${turn}`, message: { role: 'user', content: TEXT } }
  const calls = [{ type: 'tool_use', id: `toolu_${turn}`, name: 'Read', input: {} }]
  const boundary = { ...common, type: 'system', subtype: 'compact_boundary', uuid: `b${turn}`, compactMetadata: {} }
  const records = [asked, answer(1, [{ type: 'text', text: TEXT }]), answer(2, calls)]
  return [...records, ...(turn % 150 === 149 ? [boundary] : [])].map((record) => `${JSON.stringify(record)}\n`).join('')
}
