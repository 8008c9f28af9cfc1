import { describe, expect, it } from 'vitest'
import { CodexPermissions } from '../../src/adapters/codex/runtime/codex-permissions.ts'

const turn = (type: string) => ({ type: 'turn_context', payload: { sandbox_policy: { type } } })
const call = (cmd: string) => ({
  type: 'response_item',
  payload: { type: 'function_call', call_id: 'a', name: 'exec_command', arguments: JSON.stringify({ cmd }) },
})
const output = (text: string) => ({
  type: 'response_item',
  payload: { type: 'function_call_output', call_id: 'a', output: text },
})
const FAILED =
  "Wall time: 0.0 seconds\nProcess exited with code 1\nOutput:\ntouch: cannot touch 'y': Read-only file system\n"

const noted = (...records: readonly unknown[]) => {
  const permissions = new CodexPermissions()
  return records.map((record) => permissions.ofRecord(record)).at(-1)
}

describe('the permissions of Codex', () => {
  it('tells of a patch that was rejected, and of the sandbox that takes it', () => {
    const patch = "apply_patch <<'EOF'"
    expect(noted(turn('read-only'), call(patch), output('patch rejected: writing is blocked'))).toEqual({
      refused: [{ toolName: 'apply_patch', argument: patch, isWrite: true, allowedBy: 'workspace-write' }],
    })
  })

  it('tells of a command that could not write', () => {
    expect(noted(turn('workspace-write'), call('touch y'), output(FAILED))).toEqual({
      refused: [{ toolName: 'shell', argument: 'touch y', isWrite: true, allowedBy: 'danger-full-access' }],
    })
  })

  it.each([
    ['a command without a sandbox', turn('danger-full-access'), output(FAILED)],
    [
      'a command that only says the words',
      turn('read-only'),
      output('Process exited with code 0\nOutput:\nRead-only file system'),
    ],
    ['a command that prints a rejection', turn('read-only'), output('Output:\npatch rejected: no')],
  ])('makes nothing of %s', (_, context, said) => {
    expect(noted(context, call('cat notes'), said)).toEqual({})
  })

  it('counts patches that were applied', () => {
    const item = { id: 'i', type: 'file_change', changes: [], status: 'completed' }
    const permissions = new CodexPermissions()
    expect(permissions.ofEvent({ type: 'item.completed', item })).toEqual({ writes: 1 })
    expect(permissions.ofEvent({ type: 'item.started', item: { ...item, status: 'in_progress' } })).toEqual({})
    expect(permissions.ofEvent({ type: 'item.completed', item: { ...item, status: 'failed' } })).toEqual({})
  })
})
