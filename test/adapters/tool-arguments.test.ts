import { describe, expect, it } from 'vitest'
import { agentSdkReader, transcriptReader } from '../../src/entry/claude.ts'
import { execReader, rolloutReader } from '../../src/entry/codex.ts'
import type { WindowReader } from '../../src/entry/window.ts'

const usage = { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 8 }
const sessionId = '11111111-1111-4111-8111-111111111111'
const timestamp = '2026-11-16T09:00:19.000Z'

const claudeMessage = (name: string, input: object) => ({
  ...{ id: 'msg_1', role: 'assistant', model: 'claude-haiku-4-5', usage },
  content: [{ type: 'tool_use', id: 'call_1', name, input }],
})
const ofTranscript = (name: string, input: object) => ({
  ...{ type: 'assistant', uuid: sessionId, sessionId, timestamp, isSidechain: false },
  message: claudeMessage(name, input),
})
const ofSdk = (name: string, input: object) => ({
  ...{ type: 'assistant', uuid: sessionId, session_id: sessionId, parent_tool_use_id: null },
  message: claudeMessage(name, input),
})
const ofRollout = (payload: object) => ({
  timestamp,
  type: 'response_item',
  payload: { call_id: 'call_1', ...payload },
})
const ofExec = (item: object) => ({ type: 'item.completed', item: { id: 'call_1', status: 'completed', ...item } })

const PATCH = '*** Begin Patch\n*** Update File: src/clock.ts\n@@\n-a\n+b\n*** End Patch'

const CALLS: [what: string, reader: WindowReader, record: object, toolName: string, argument: string | undefined][] = [
  ['a transcript', transcriptReader, ofTranscript('Bash', { command: 'npm test' }), 'Bash', 'npm test'],
  ['a transcript, of nothing', transcriptReader, ofTranscript('Task', {}), 'Task', undefined],
  ['the SDK', agentSdkReader, ofSdk('Edit', { file_path: 'src/clock.ts' }), 'Edit', 'src/clock.ts'],
  [
    'a rollout, as JSON in a text',
    rolloutReader,
    ofRollout({ type: 'function_call', name: 'shell', arguments: '{"command":["bash","-lc","npm test"]}' }),
    'shell',
    'npm test',
  ],
  [
    'a rollout, as a patch',
    rolloutReader,
    ofRollout({ type: 'custom_tool_call', name: 'apply_patch', input: PATCH }),
    'apply_patch',
    'src/clock.ts',
  ],
  [
    'a rollout, as an action',
    rolloutReader,
    ofRollout({ type: 'web_search_call', action: { type: 'search', query: 'flaky clocks' } }),
    'web_search',
    'flaky clocks',
  ],
  ['exec', execReader, ofExec({ type: 'command_execution', command: 'npm test' }), 'shell', 'npm test'],
  [
    'exec, of an MCP tool',
    execReader,
    ofExec({ type: 'mcp_tool_call', server: 'fruit', tool: 'weigh', arguments: { name: 'pear' } }),
    'weigh',
    'pear',
  ],
]

describe('readers', () => {
  it.each(CALLS)('say what a tool was called with: %s', (_, reader, record, toolName, argument) => {
    expect(reader.recognises(record)).toBe(true)
    const calls = reader.read(record).filter((event) => event.type === 'tool_call')
    expect(calls).toMatchObject([{ callId: 'call_1', toolName }])
    expect(calls[0]?.argument).toBe(argument)
  })
})
