import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MessageMeaning } from '../../src/adapters/runtime/function-runtime.ts'
import { rolloutReader } from '../../src/entry/codex.ts'
import {
  type Batonpass,
  type ConversationId,
  createBatonpass,
  everyPage,
  functionRuntime,
  totalMessages,
} from '../../src/entry/index.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { replay } from '../../src/services/replay/record-replay.ts'
import { RecordingImport } from '../../src/services/replay/recording-import.ts'
import { play, recorded } from '../runner/played.ts'

const WINDOW_READERS = await windowReaders()

const line = (type: string, payload: object, thread_id?: string) => ({ type, payload, ...(thread_id && { thread_id }) })

const counted = (input_tokens: number, total: number, thread_id?: string) => {
  const last_token_usage = { input_tokens, output_tokens: 0, total_tokens: input_tokens }
  const total_token_usage = { input_tokens: total, output_tokens: 0, total_tokens: total }
  const info = { last_token_usage, total_token_usage, model_context_window: 258_400 }
  return line('event_msg', { type: 'token_count', info }, thread_id)
}

const said = (text: string) =>
  line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })

/** A rollout in which a subagent calls a tool and is compacted, while the main thread goes on. */
const ROLLOUT = [
  line('session_meta', { id: 'root', source: 'cli' }),
  said('I ask a subagent.'),
  counted(60_000, 60_000),
  line('response_item', { type: 'function_call', name: 'child_tool', call_id: 'c1', arguments: '{}' }, 'child'),
  counted(250_000, 250_000, 'child'),
  line('compacted', {}, 'child'),
  line('event_msg', { type: 'context_compacted' }, 'child'),
  said('It has answered.'),
  counted(70_000, 130_000),
]

/** The same, with a compaction of the main thread at the end. */
const WITH_OWN = [...ROLLOUT, line('compacted', {}), said('On with it.'), counted(9_000, 139_000)]

describe('a compaction of a subagent leaves the session alone', () => {
  let batonpass: Batonpass
  beforeEach(async () => {
    batonpass = await createBatonpass({ store: 'memory' })
  })
  afterEach(() => batonpass.close())

  const compactionsIn = async (conversationId: ConversationId) => {
    const types: string[] = []
    for await (const { event } of everyPage((page) => batonpass.history.auditTrail(conversationId, page)))
      if (event.type === 'context.compacted' || event.type === 'session.truncated') types.push(event.type)
    return types
  }

  const toolsIn = async (sessionId: Parameters<Batonpass['history']['turns']>[0]) => {
    const names: string[] = []
    for await (const { toolCalls } of everyPage((page) => batonpass.history.turns(sessionId, page)))
      names.push(...toolCalls.map(({ toolName }) => toolName))
    return names
  }

  /** A run whose agent says what the rollout has, a line at a time. */
  const run = (records: readonly object[]) => {
    const runtime = functionRuntime<object>({
      backend: 'codex',
      start: async function* () {
        yield* records
      },
      read: (record): MessageMeaning => ({
        events: rolloutReader.read(record),
        texts: rolloutReader.words?.(record).texts ?? [],
      }),
    })
    return play(batonpass, runtime)
  }

  it('in a run: nothing is truncated, nothing is told, and the reading stands', async () => {
    const { summary, events } = await run(ROLLOUT)
    const [session] = (await recorded(batonpass, summary)).sessions
    if (session === undefined) throw new Error('There is no session')
    expect(await compactionsIn(summary.conversationId)).toEqual([])
    expect(events.filter(({ type }) => type === 'context:compaction')).toEqual([])
    expect(session.progress.window.usage).toMatchObject({ promptTokens: 70_000 })
    // The window still holds everything that was said.
    const messages = await batonpass.history.messages(summary.conversationId, { limit: 100 })
    expect(totalMessages(session.progress.window.messages)).toBe(messages.items.length)
    expect(await toolsIn(session.id)).toEqual([])
  })

  it('in a run: one of the main thread still truncates it, once', async () => {
    const { summary } = await run(WITH_OWN)
    expect(await compactionsIn(summary.conversationId)).toEqual(['context.compacted', 'session.truncated'])
  })

  const readBack = async (records: readonly object[]) => {
    const importing = new RecordingImport({
      handoffs: batonpass.handoffs,
      history: batonpass.history,
      sha256,
      name: 'a-file.jsonl',
    })
    const lines = async function* () {
      for (const record of records) yield JSON.stringify(record)
    }
    const onRecord = importing.take.bind(importing)
    const replayed = await replay(lines(), {
      readers: WINDOW_READERS,
      milestones: [{ name: 'restart', at: 0.2 }],
      onRecord,
    })
    return { replayed, imported: await importing.end() }
  }

  it('in an import: nothing is truncated, and its tools are not those of the session', async () => {
    const { imported } = await readBack(ROLLOUT)
    if (imported === undefined) throw new Error('Nothing was imported')
    const [session] = (await recorded(batonpass, imported)).sessions
    if (session === undefined) throw new Error('There is no session')
    expect(await compactionsIn(imported.conversationId)).toEqual([])
    expect(session.progress.window.usage).toMatchObject({ promptTokens: 70_000 })
    expect(await toolsIn(session.id)).toEqual([])
  })

  it('in a replay: it is not counted, and arms no milestone anew', async () => {
    const { replayed } = await readBack(ROLLOUT)
    expect(replayed).toMatchObject({ turns: 2, subagentTurns: 1, toolCalls: 0, compactions: [] })
    expect(replayed.signals.map(({ turn }) => turn)).toEqual([1])
    const own = await readBack(WITH_OWN)
    expect(own.replayed.compactions).toEqual([{ trigger: 'unknown', contextBefore: 70_000, contextAfter: 9_000 }])
  })
})
