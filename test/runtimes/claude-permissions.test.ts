import { describe, expect, it } from 'vitest'
import { ClaudePermissions } from '../../src/adapters/claude/runtime/claude-permissions.ts'

const init = (permissionMode = 'default') => ({ type: 'system', subtype: 'init', cwd: '/shop', permissionMode })
const calls = (id: string, name: string, input: unknown = {}) => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
})
const result = (id: string, is_error?: boolean) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'words', is_error }] },
})
const denied = (id: string, name: string) => ({
  ...{ type: 'system', subtype: 'permission_denied', tool_use_id: id, tool_name: name, message: 'no' },
})
const ends = (...denials: readonly object[]) => ({ type: 'result', subtype: 'success', permission_denials: denials })

const watching = (...messages: readonly unknown[]) => {
  const permissions = new ClaudePermissions()
  return messages.map((message) => permissions.take(message))
}

describe('the permissions of Claude', () => {
  it('tells a refusal once, however often the runtime does, with what it was about', () => {
    const denial = { tool_name: 'Write', tool_use_id: 'a', tool_input: { file_path: '/shop/plan.md' } }
    const write = calls('a', 'Write', { file_path: '/shop/plan.md', content: 'x' })
    const noted = watching(init(), write, denied('a', 'Write'), result('a', true), ends(denial))
    expect(noted).toEqual([
      {},
      {},
      { refused: [{ toolName: 'Write', argument: '/shop/plan.md', isWrite: true, allowedBy: 'acceptEdits' }] },
      {},
      {},
    ])
  })

  it('tells at the end what had no message of its own', () => {
    const denial = { tool_name: 'Bash', tool_use_id: 'b', tool_input: { command: 'touch y' } }
    expect(watching(init(), ends(denial)).at(-1)).toEqual({
      refused: [{ toolName: 'Bash', argument: 'touch y', isWrite: true, allowedBy: 'bypassPermissions' }],
    })
  })

  it.each([
    ['outside of the working folder', 'default', 'Write', { file_path: '/etc/plan.md' }, 'bypassPermissions'],
    ['beside it', 'default', 'Edit', { file_path: '/shop-2/a' }, 'bypassPermissions'],
    ['where edits are accepted already', 'acceptEdits', 'Write', { file_path: '/shop/a' }, 'bypassPermissions'],
    ['of a tool of a server', 'default', 'mcp__x__y', {}, 'bypassPermissions'],
    ['of a question to a person', 'default', 'AskUserQuestion', {}, undefined],
  ])('names the mode that allows a call %s', (_, mode, tool_name, tool_input, allowedBy) => {
    const [, noted] = watching(init(mode), ends({ tool_name, tool_use_id: 'a', tool_input }))
    expect(noted?.refused?.[0]?.allowedBy).toBe(allowedBy)
  })

  it('counts the edits that were done, those of subagents too, and no other calls', () => {
    const noted = watching(
      init(),
      { ...calls('a', 'Edit'), parent_tool_use_id: 'task' },
      { ...result('a'), parent_tool_use_id: 'task' },
      calls('b', 'Write'),
      result('b', true),
      calls('c', 'Bash'),
      result('c', false),
    )
    expect(noted.map(({ writes = 0 }) => writes)).toEqual([0, 0, 1, 0, 0, 0, 0])
  })

  it.each([undefined, null, 7, {}, { type: 'user' }, { type: 'assistant', message: { content: 'text' } }])(
    'makes nothing of %j',
    (message) => {
      expect(watching(message)).toEqual([{}])
    },
  )
})
