import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { agentSdkRuntime } from '../../src/adapters/claude/runtime/agent-sdk-runtime.ts'
import { claudeCommandRuntime } from '../../src/adapters/claude/runtime/claude-command-runtime.ts'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { systemClock } from '../../src/entry/container.ts'
import { type AgentRuntime, type Batonpass, createBatonpass, functionRuntime } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { answer, result, type Sent } from '../runtimes/claude-messages.ts'
import { FakeSdk } from '../runtimes/fake-sdk.ts'
import { play, recorded, spoken } from './played.ts'

const WINDOW_READERS = await windowReaders()

let store: MemoryStore
let batonpass: Batonpass
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

/** Usage that says nothing of a window. */
const USELESS: readonly unknown[] = [
  undefined,
  { input_tokens: -5 },
  null,
  { input_tokens: '12' },
  { input_tokens: 1.5 },
]

const ANSWERS = USELESS.map((usage, index) => answer(`msg_${index}`, `Answer ${index}.`, { usage }))

/** A program that writes these lines. */
const program = (lines: readonly object[]): readonly string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-unmetered-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const file = join(folder, 'agent.cjs')
  writeFileSync(
    file,
    `#!${process.execPath}\nfor (const line of ${JSON.stringify(lines)}) console.log(JSON.stringify(line))`,
    {
      mode: 0o755,
    },
  )
  return [file]
}

const asCommand = (lines: readonly object[]): AgentRuntime =>
  commandRuntime({ command: program(lines), readers: WINDOW_READERS })

async function* said(messages: readonly Sent[]): AsyncGenerator<Sent, void> {
  yield* messages
}

const RUNTIMES: readonly (readonly [string, (messages: readonly Sent[]) => AgentRuntime])[] = [
  ['--command', asCommand],
  ['claude', (messages) => claudeCommandRuntime({ command: String(program(messages)[0]) })],
  ['the SDK', (messages) => agentSdkRuntime({ sdk: new FakeSdk(() => said(messages)) })],
  [
    'a function',
    (messages) =>
      functionRuntime<Sent>({
        backend: 'own',
        start: () => said(messages),
        read: (message) =>
          message.type === 'assistant'
            ? { texts: [{ role: 'assistant', text: (message as unknown as typeof MESSAGE).message.content[0].text }] }
            : {},
      }),
  ],
]
const MESSAGE = { message: { content: [{ text: '' }] as const } }

describe.each(RUNTIMES)('answers without usage, from %s', (_, runtimeOf) => {
  it('are recorded, each as a turn', async () => {
    const { summary } = await play(batonpass, runtimeOf([...ANSWERS, result()]))
    expect(summary).toMatchObject({ outcome: 'completed', turns: 5 })
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ progress: { turns: 5 } }])
    const texts = await spoken(store, summary)
    expect(texts.slice(1)).toEqual(ANSWERS.map((_, index) => `assistant: Answer ${index}.`))
  })
})

describe('an answer without usage', () => {
  const usage = { input_tokens: 120, output_tokens: 3 }

  it('is one turn though its parts come one by one, and keeps usage that comes late', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'edit' }
    const parts = [
      answer('msg_1', 'First part.', { usage: undefined }),
      answer('msg_1', '', { usage: undefined, content: [call] }),
      {
        type: 'user',
        session_id: 'session-1',
        message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
      },
      answer('msg_2', 'Second.', { usage: undefined }),
      answer('msg_2', 'More of it.', { usage }),
      answer('msg_2', 'The rest.', { usage: null }),
      answer('msg_3', 'Third.', { usage }),
    ]
    const { summary } = await play(batonpass, asCommand(parts))
    const texts = await spoken(store, summary)
    expect(texts.slice(1)).toEqual([
      ...['assistant: First part.', 'tool: ok', 'assistant: Second.', 'assistant: More of it.'],
      ...['assistant: The rest.', 'assistant: Third.'],
    ])
    const { items } = await store.messages.listTurns(summary.lastSessionId as never, { limit: 10 })
    expect(items.map(({ usage: { state } }) => state)).toEqual(['unknown', 'metered', 'metered'])
    expect(items[0]?.toolCalls).toMatchObject([{ callId: 'toolu_1', toolName: 'edit' }])
  })

  it('is a turn though it has no id, or a blank one, and no session beside it', async () => {
    const bare = (text: string, more: object = {}) => ({
      type: 'assistant',
      message: { content: [{ type: 'text', text }], ...more },
    })
    const begun = { type: 'system', subtype: 'init', session_id: 's', model: 'claude-haiku-4-5' }
    const lines = [begun, bare('One.'), bare('Two.', { id: '' }), bare('Three.', { id: ' ', usage })]
    const { summary } = await play(batonpass, asCommand(lines))
    expect(summary.turns).toBe(3)
    expect((await spoken(store, summary)).slice(1)).toEqual(['assistant: One.', 'assistant: Two.', 'assistant: Three.'])
  })

  it('of `codex exec` is recorded too', async () => {
    const item = (id: string, more: object) => ({ type: 'item.completed', item: { id, ...more } })
    const lines = [
      { type: 'thread.started', thread_id: 'thread-1' },
      { type: 'turn.started' },
      item('item_0', { type: 'agent_message', text: 'I look.' }),
      { type: 'item.started', item: { id: 'item_1', type: 'command_execution' } },
      { type: 'item.started', item: { id: 'item_2', type: 'command_execution' } },
      item('item_1', { type: 'command_execution', command: 'ls', aggregated_output: 'a.txt' }),
      item('item_2', { type: 'command_execution', command: 'pwd', aggregated_output: '/' }),
      item('item_3', { type: 'command_execution', command: 'id', aggregated_output: 'me' }),
      item('item_4', { type: 'agent_message', text: 'Done.' }),
      { type: 'turn.completed', usage: { input_tokens: 41_613, output_tokens: 90 } },
    ]
    const { summary } = await play(batonpass, asCommand(lines))
    expect(summary).toMatchObject({ outcome: 'completed', turns: 2 })
    expect((await spoken(store, summary)).slice(1)).toEqual([
      ...['assistant: I look.', 'tool: a.txt', 'tool: /', 'assistant: ', 'tool: me', 'assistant: Done.'],
    ])
    const { items } = await store.messages.listTurns(summary.lastSessionId as never, { limit: 10 })
    expect(items.flatMap(({ toolCalls }) => toolCalls.map(({ callId }) => callId))).toEqual([
      'item_1',
      'item_2',
      'item_3',
    ])
  })
})
