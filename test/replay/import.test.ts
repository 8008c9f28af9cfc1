import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Batonpass,
  createBatonpass,
  DEFAULT_MILESTONES,
  everyPage,
  type MessageInHistory,
} from '../../src/entry/index.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { replay } from '../../src/services/replay/record-replay.ts'
import { RecordingImport } from '../../src/services/replay/recording-import.ts'

const WINDOW_READERS = await windowReaders()

const FOLDER = 'test/fixtures/recordings'

let batonpass: Batonpass
beforeEach(async () => {
  batonpass = await createBatonpass({ store: 'memory' })
})
afterEach(() => batonpass.close())

const linesIn = (name: string): readonly string[] => readFileSync(`${FOLDER}/${name}`, 'utf8').split('\n')

const importLines = async (lines: readonly string[], name = 'a-file.jsonl') => {
  const importing = new RecordingImport({ ...batonpass, sha256, name })
  const each = async function* () {
    yield* lines
  }
  await replay(each(), {
    readers: WINDOW_READERS,
    milestones: DEFAULT_MILESTONES,
    onRecord: (seen) => importing.take(seen),
  })
  return importing.end()
}

/** What was kept: each turn with its messages in short, its tools and its reading. */
const kept = async (conversationId: NonNullable<Awaited<ReturnType<typeof importLines>>>['conversationId']) => {
  const lineage = await batonpass.history.lineage(conversationId)
  const [session] = lineage?.sessions ?? []
  if (session === undefined) throw new Error('There is no session')
  const turns = []
  for await (const turn of everyPage((page) => batonpass.history.turns(session.id, page))) turns.push(turn)
  const messages: MessageInHistory[] = []
  for await (const message of everyPage((page) => batonpass.history.messages(conversationId, page)))
    messages.push(message)
  return {
    session,
    turns: turns.map(({ id, usage, toolCalls }) => ({
      said: messages.filter(({ turnId }) => turnId === id).map(({ role, text }) => `${role}: ${text}`),
      tools: toolCalls.map(({ toolName }) => toolName),
      usage: usage.state === 'metered' ? [usage.promptTokens, usage.outputTokens] : usage.state,
    })),
  }
}

describe('importing a recording', () => {
  it('keeps the turns of a transcript: what was said, the tools, and what each request said', async () => {
    const imported = await importLines(linesIn('claude-code/inline-sidechain.jsonl'))
    expect(imported).toMatchObject({ turns: 2, added: 2, unknown: 1 })
    if (imported === undefined) return
    const { session, turns } = await kept(imported.conversationId)
    expect(session).toMatchObject({ agentName: 'claude-code', model: 'claude-haiku-4-5', state: 'active' })
    expect(turns).toEqual([
      { said: ['user: Count the lemons', 'assistant: '], tools: ['Task'], usage: [11_004, 30] },
      { said: ['tool: Seven lemons', 'assistant: Noted.'], tools: [], usage: [11_506, 12] },
    ])
    const conversation = await batonpass.history.conversation(imported.conversationId)
    expect(conversation).toMatchObject({
      // No prompt of a recording is a task: nobody knows who wrote it.
      originalTask: expect.stringMatching(/^Imported from /),
      externalKey: 'replay:claude-code:11111111-1111-4111-8111-111111111111',
    })
  })

  it('knows nobody for the author of a prompt, whatever its file says', async () => {
    const record = (content: string, marks: object) =>
      JSON.stringify({ type: 'user', sessionId: 's', uuid: content, message: { role: 'user', content }, ...marks })
    const usage = { input_tokens: 10, output_tokens: 1 }
    const answer = { id: 'm', model: 'claude-haiku-4-5', usage, content: [{ type: 'text', text: 'Done.' }] }
    const lines = [
      record('Fix it', {}),
      record('Push it', { promptSource: 'typed', origin: { kind: 'human' } }),
      record('Task done', { origin: { kind: 'task-notification' } }),
      JSON.stringify({ type: 'assistant', sessionId: 's', uuid: 'a', message: answer }),
    ]
    const imported = await importLines(lines)
    if (imported === undefined) throw new Error('Nothing was imported')
    const { items } = await batonpass.history.messages(imported.conversationId)
    expect(items.filter(({ role }) => role === 'user').map(({ origin, text }) => [origin, text])).toEqual([
      ['unknown', 'Fix it'],
      ['unknown', 'Push it'],
      ['runtime', 'Task done'],
    ])
    expect(imported.unknown).toBe(2)
  })

  it('keeps the turns of a rollout, whose requests are reported late, without those of a descendant', async () => {
    const imported = await importLines(linesIn('codex/rollout.jsonl'))
    if (imported === undefined) throw new Error('Nothing was imported')
    const { turns } = await kept(imported.conversationId)
    expect(turns.map(({ tools, usage }) => [tools, usage])).toEqual([
      [['shell'], [60_000, 200]],
      [
        ['web_search', 'apply_patch'],
        [128_000, 1_200],
      ],
      [[], [230_000, 900]],
      [[], [19_000, 300]],
    ])
    expect(turns[0]?.said).toEqual(['assistant: ', 'tool: ok'])
  })

  it('takes the final output of a streamed answer', async () => {
    const imported = await importLines(linesIn('agent-sdk/partial-stream.jsonl'))
    if (imported === undefined) throw new Error('Nothing was imported')
    const { turns } = await kept(imported.conversationId)
    expect(turns.map(({ usage }) => usage)).toEqual([
      [405_003, 2_400],
      [408_503, 500],
      [66_002, 4],
      [21_002, 4],
    ])
  })

  it('adds nothing the second time, and what is new when the file has grown', async () => {
    const lines = linesIn('claude-code/compactions.jsonl')
    const half = await importLines(lines.slice(0, 10))
    expect(half).toMatchObject({ turns: 3, added: 3 })
    const whole = await importLines(lines)
    expect(whole).toMatchObject({ conversationId: half?.conversationId, turns: 7, added: 4 })
    expect(await importLines(lines)).toMatchObject({ conversationId: half?.conversationId, turns: 7, added: 0 })
    if (half === undefined) return
    const { turns } = await kept(half.conversationId)
    expect(turns.map(({ usage }) => usage[0])).toEqual([100_010, 130_008, 100_008, 155_000, 45_000, 105_000, 32_000])
  })

  it('imports once when two do it at the same time', async () => {
    const lines = linesIn('claude-code/compactions.jsonl')
    const both = await Promise.all([importLines(lines), importLines(lines)])
    expect(new Set(both.map((imported) => imported?.conversationId)).size).toBe(1)
    const { turns } = await kept(both[0]?.conversationId ?? both[1]?.conversationId ?? ('' as never))
    expect(turns).toHaveLength(7)
  })

  it('keeps nothing of a recording without a turn of the main thread', async () => {
    expect(await importLines(linesIn('claude-code/with-agent-files/agent-77aa.jsonl'))).toBeUndefined()
    expect(await importLines(linesIn('codex/descendant.jsonl'))).toBeUndefined()
    expect((await batonpass.history.listConversations()).items).toEqual([])
  })

  it('keeps answers of which nothing is known but that they were given', async () => {
    const imported = await importLines(linesIn('codex/exec.jsonl'))
    expect(imported?.turns).toBeGreaterThan(0)
    if (imported === undefined) return
    const { turns } = await kept(imported.conversationId)
    expect(turns).toHaveLength(imported.turns)
    expect(new Set(turns.map(({ usage }) => usage))).toEqual(new Set(['unknown']))
  })

  it('goes by the name of the file when the runtime does not name its session', async () => {
    const imported = await importLines(linesIn('status-line/drawn-again.jsonl'), 'drawn-again.jsonl')
    if (imported === undefined) throw new Error('Nothing was imported')
    const conversation = await batonpass.history.conversation(imported.conversationId)
    expect(conversation).toMatchObject({
      originalTask: 'Imported from drawn-again.jsonl',
      externalKey: 'replay:claude-status-line:drawn-again.jsonl',
    })
  })
})
