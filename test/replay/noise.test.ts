import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UsageReading } from '../../src/entry/index.ts'
import type { WindowReader } from '../../src/entry/window.ts'
import { RecordedWindow, type WindowReplay } from '../../src/services/replay/recorded-window.ts'
import { runsOf } from '../support/amounts.ts'
import { READERS, recordsOf } from '../support/reader-records.ts'

interface Seen extends Omit<WindowReplay, 'subagentTurns' | 'unmetered'> {
  readonly reading: UsageReading
}

/** What the window went through, but for what noise may add to. */
const seenBy = (reader: WindowReader, records: readonly unknown[]): Seen => {
  const milestones = [0.1, 0.3, 0.5].map((at) => ({ name: `${at}`, at }))
  const window = new RecordedWindow({ milestones, believed: () => ({ tokens: 300_000, source: 'catalogue' }) })
  for (const record of records) window.take(reader.read(record))
  const { subagentTurns: _, unmetered: __, ...replayed } = window.result()
  return { ...replayed, reading: window.gauge.reading() }
}

const large = { input_tokens: 9, cache_read_input_tokens: 290_000, cache_creation_input_tokens: 0, output_tokens: 900 }
const answer = { id: 'noise', model: 'claude-haiku-4-5', content: [], usage: large }
const nested = { type: 'assistant', message: answer }
const codex = { input_tokens: 290_000, output_tokens: 9, total_tokens: 290_009 }

/** Records that say nothing of the main window: subagents, local messages, sums, and types of tomorrow. */
const NOISE: Readonly<Record<string, readonly unknown[]>> = {
  'claude-code': [
    { type: 'assistant', uuid: 'n1', isSidechain: true, message: answer },
    { type: 'user', uuid: 'n2', isSidechain: true, message: { content: 'x'.repeat(9_000) } },
    { type: 'system', subtype: 'compact_boundary', uuid: 'n3', isSidechain: true },
    { type: 'progress', uuid: 'n4', data: { type: 'agent_progress', message: nested } },
    { type: 'assistant', uuid: 'n5', message: { ...answer, model: '<synthetic>' } },
    { type: 'system', subtype: 'microcompact_boundary', uuid: 'n6', microcompactMetadata: { preTokens: 1 } },
    { type: 'summary', summary: 'A title' },
  ],
  'claude-agent-sdk': [
    { type: 'assistant', session_id: 's', parent_tool_use_id: 'toolu_1', message: answer },
    { type: 'stream_event', session_id: 's', parent_tool_use_id: 't', event: { type: 'message_delta', usage: large } },
    { type: 'user', session_id: 's', parent_tool_use_id: 't', message: { content: 'x'.repeat(9_000) } },
    { type: 'assistant', session_id: 's', message: { ...answer, model: '<synthetic>' } },
    { type: 'system', subtype: 'task_progress', session_id: 's', usage: { total_tokens: 290_000 } },
    { type: 'result', session_id: 's', usage: large, modelUsage: {} },
  ],
  'codex-rollout': [
    {
      type: 'event_msg',
      payload: { type: 'token_count', thread_id: 'n', info: { last_token_usage: codex, total_token_usage: codex } },
    },
    { type: 'event_msg', payload: { type: 'token_count', info: null } },
    { type: 'world_state', payload: { usage: codex } },
  ],
}

const RECORDINGS = [
  ['claude-code', 'claude-code/compactions.jsonl'],
  ['claude-code', 'claude-code/inline-sidechain.jsonl'],
  ['claude-code', 'claude-code/agent-progress.jsonl'],
  ['claude-agent-sdk', 'agent-sdk/partial-stream.jsonl'],
  ['codex-rollout', 'codex/rollout.jsonl'],
] as const

/** Whether a record may come twice: some of Codex's tool calls have no name, and nobody can tell them apart. */
const isNamed = (record: unknown): boolean => !JSON.stringify(record).includes('"web_search_call"')

describe('noise', () => {
  it.each(RECORDINGS)('changes nothing in %s (%s)', (format, name) => {
    const reader = READERS.find((made) => made.reader.format === format)?.reader
    if (reader === undefined) throw new Error(`There is no reader of ${format}`)
    const records = recordsOf(name)
    const clean = seenBy(reader, records)
    const place = fc.record({ after: fc.nat(records.length - 1), what: fc.nat(), isRepeat: fc.boolean() })
    fc.assert(
      fc.property(fc.array(place, { maxLength: 40 }), (places) => {
        const noise = NOISE[format] ?? []
        const noisy = records.flatMap((record, index) => [
          record,
          ...places
            .filter(({ after }) => after === index)
            .map(({ what, isRepeat }) => (isRepeat ? records[what % (index + 1)] : noise[what % noise.length]))
            .filter(isNamed),
        ])
        expect(seenBy(reader, noisy)).toEqual(clean)
      }),
      { numRuns: runsOf(300) },
    )
  })
})
