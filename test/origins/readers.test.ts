import { describe, expect, it } from 'vitest'
import { agentSdkReader } from '../../src/adapters/claude/agent-sdk-reader.ts'
import { transcriptReader } from '../../src/adapters/claude/transcript-reader.ts'
import { rolloutReader } from '../../src/adapters/codex/rollout-reader.ts'
import type { WindowReader } from '../../src/ports/window-reader.ts'

const originsOf = (reader: WindowReader, record: unknown) =>
  (reader.words?.(record).texts ?? []).map(({ role, text, origin }) => [role, origin ?? 'by role', text])

const line = (content: unknown, marks: object = {}) => ({
  type: 'user',
  sessionId: 's',
  uuid: 'u',
  message: { role: 'user', content },
  ...marks,
})

const REMINDER = '<system-reminder>\nTodo list is empty\n</system-reminder>'

describe('a user record of Claude Code', () => {
  it.each([
    ['what a person typed', line('No, in British English'), 'by role'],
    ['what a person typed, as newer versions mark it', line('No', { origin: { kind: 'human' } }), 'by role'],
    [
      'what a person asked of a command',
      line('<command-name>/review</command-name>\n<command-args>only auth</command-args>'),
      'by role',
    ],
    ['what a person said about a tag', line('Why is there a <system-reminder> in my file?'), 'by role'],
    ['a meta record', line('Caveat', { isMeta: true }), 'runtime'],
    ['a summary of a compaction', line('The session so far', { isCompactSummary: true }), 'runtime'],
    ['a summary of a compaction in a stream', line('The session so far', { isSynthetic: true }), 'runtime'],
    [
      'a summary that nothing marks',
      line('This session is being continued from a previous conversation that ran out of context. The'),
      'runtime',
    ],
    ['a notice about a task', line('Task done', { origin: { kind: 'task-notification' } }), 'runtime'],
    ['the output of a local command', line('<local-command-stdout>Bye!</local-command-stdout>'), 'runtime'],
    [
      'a command without a word to the agent',
      line('<command-name>/clear</command-name>\n<command-args></command-args>'),
      'runtime',
    ],
    ['an interruption', line([{ type: 'text', text: '[Request interrupted by user for tool use]' }]), 'runtime'],
    ['what a hook added to a prompt', line('<user-prompt-submit-hook>Use pnpm</user-prompt-submit-hook>'), 'hook'],
    ['what a hook said at the end', line('Stop hook feedback:\n- lint fails', { isMeta: true }), 'hook'],
  ])('is %s', (_, record, origin) => {
    expect(originsOf(transcriptReader, record).map(([, from]) => from)).toEqual([origin])
    expect(originsOf(agentSdkReader, { ...record, session_id: 's' }).map(([, from]) => from)).toEqual([origin])
  })

  it('may hold a reminder, a result and a person’s words, each with its own origin', () => {
    const content = [
      { type: 'tool_result', tool_use_id: 'call', content: 'ok' },
      { type: 'text', text: REMINDER },
      { type: 'text', text: 'And mind the tabs' },
    ]
    expect(originsOf(transcriptReader, line(content))).toEqual([
      ['tool', 'by role', 'ok'],
      ['user', 'runtime', REMINDER],
      ['user', 'by role', 'And mind the tabs'],
    ])
  })
})

it('the origin of a text is found in one pass, whatever was pasted', () => {
  const pasted = `${'<system-reminder></system-reminder>'.repeat(30_000)}And now?`
  expect(originsOf(transcriptReader, line(pasted)).map(([, from]) => from)).toEqual(['by role'])
  const reminders = `${REMINDER}\n${REMINDER}\n`
  expect(originsOf(transcriptReader, line(reminders)).map(([, from]) => from)).toEqual(['runtime'])
})

describe('a user message of a rollout', () => {
  const message = (...texts: readonly string[]) => ({
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) },
  })
  const PLACE = '<environment_context>\n<cwd>/repo</cwd>\n</environment_context>'

  it.each([
    ['what a person asked', message('Fix it'), 'by role'],
    ['where it runs', message(PLACE), 'runtime'],
    ['standing instructions', message('<user_instructions>\nBe brief\n</user_instructions>'), 'runtime'],
    [
      'an AGENTS.md',
      message('# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nBe brief\n</INSTRUCTIONS>'),
      'runtime',
    ],
    ['an aborted turn', message('<turn_aborted>\nThe user interrupted\n</turn_aborted>'), 'runtime'],
    [
      'a summary',
      message('Another language model started to solve this problem and produced a summary of it'),
      'runtime',
    ],
  ])('is %s', (_, record, origin) => {
    expect(originsOf(rolloutReader, record).map(([, from]) => from)).toEqual([origin])
  })

  it('may hold what Codex adds and what a person asks, each with its own origin', () => {
    expect(originsOf(rolloutReader, message(PLACE, 'Fix it', 'Then test it'))).toEqual([
      ['user', 'runtime', PLACE],
      ['user', 'by role', 'Fix it\n\nThen test it'],
    ])
  })
})
